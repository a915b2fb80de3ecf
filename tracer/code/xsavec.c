/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arms the dynamic linker's xsavec, and does it: see lizard/xsavec.h. */
#include "tracer/code/code.h"
#include "tracer/log/log.h"

#include <elf.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/xsavec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As the kernel has told the program. */
static uint64_t linker_of(pid_t pid)
{
	char path[64];
	uint64_t word[2] = {0}, base = 0, entry = 0;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fread(word, sizeof(word), 1, f) == 1) {
		if (word[0] == AT_BASE)
			base = word[1];
		if (word[0] == AT_ENTRY)
			entry = word[1];
	}
	if (f)
		fclose(f);
	return base ? base : entry;
}

/* The linker's code is the first that is mapped behind its base. */
static const struct lz_vma *code_behind(const struct lz_tracer *t, uint64_t base)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;

		if (v->end > base && v->prot & PROT_EXEC)
			return v;
	}
	return NULL;
}

int lz_xsavec_arm(struct lz_tracer *t)
{
	const struct lz_vma *v;
	const uint64_t *sites;
	size_t n;

	if (!lz_xsavec_by_chance())
		return 0;
	if (!t->linker)
		t->linker = linker_of(t->p.pid);
	v = t->linker ? code_behind(t, t->linker) : NULL;
	if (!v || v->file == LZ_NO_FILE || v->flags & MAP_SHARED)
		return 0;
	int ret = lz_writer_file_insns(t->w, v->file, LZ_INSNS_XSAVEC, &sites, &n);
	if (ret)
		return ret < 0 ? -1 : 0;
	return lz_armed_sites(t, LZ_ARMED_INSN, sites, n, v, false) < 0 ? -1 : 0;
}

int lz_xsavec_fault(struct lz_tracer *t, const uint8_t *code, size_t n, struct user_regs_struct *r)
{
	static uint8_t xstate[LZ_XSTATE_MAX], image[LZ_XSAVEC_ROOM];
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];
	uint32_t len = sizeof(xstate);
	struct lz_xsavec in;

	if (!lz_xsavec_decode(code, n, true, &in) || !lz_armed_has(t, r->rip + in.at))
		return 0;
	uint64_t addr = lz_xsavec_addr(&in, r);
	int parts = lz_proc_xstate(&t->p, xstate, &len) < 0
	                ? -1
	                : lz_xsavec_image(xstate, len, lz_xsavec_mask(r), image, part);

	for (int i = 0; i < parts; i++) {
		const void *bytes = image + part[i].at;

		/* no room on the stack, which shows at the lowest part: the fault is the
		 * program's */
		if (lz_proc_write(&t->p, addr + part[i].at, bytes, part[i].len) < 0)
			return 0;
		if (lz_build_write(t, addr + part[i].at, bytes, part[i].len) < 0)
			return -1;
	}
	r->rip += in.len;
	return parts < 0 ? -1 : 1;
}
