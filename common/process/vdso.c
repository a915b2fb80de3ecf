/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/vdso.h>

#include <string.h>

/* A page; more cannot be. */
__asm__(".pushsection .rodata\n"
        "	.globl lz_vdso_image\n"
        "	.hidden lz_vdso_image\n"
        "	.balign 64\n"
        "lz_vdso_image:\n"
        "	.incbin \"vdso.so\"\n"
        "	.org lz_vdso_image + 4096\n"
        ".popsection\n");

static bool begins(const struct lz_proc *p, const struct lz_vma *v, size_t len)
{
	uint8_t here[LZ_PAGE];

	return v->file == LZ_NO_FILE && v->end - v->start == LZ_PAGE &&
	       lz_proc_read(p, v->start, here, len) == 0 && memcmp(here, lz_vdso_image, len) == 0;
}

bool lz_vdso_is(const struct lz_proc *p, const struct lz_vma *v)
{
	return begins(p, v, LZ_PAGE);
}

bool lz_vdso_was(const struct lz_proc *p, const struct lz_vma *v)
{
	return begins(p, v, LZ_VDSO_CODE);
}
