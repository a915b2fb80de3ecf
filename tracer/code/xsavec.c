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

enum { NEAR = 256 }; /* bytes of code from the xsavec to its xrstor */

struct linker {
	struct lz_tracer *t;
	uint64_t base;
};

/* Does what has been saved there come back? xrstor is 0F AE /5, with the same operand. */
static bool is_restored(const uint8_t *code, size_t n, const struct lz_xsavec *in)
{
	uint8_t restore[LZ_XSAVEC_MAX];

	memcpy(restore, code, in->len);
	restore[1] = 0xae;
	restore[2] = (uint8_t)((code[2] & ~0x38) | 5 << 3);
	return memmem(code, n < NEAR ? n : NEAR, restore, in->len) != NULL;
}

static bool has_prefix(const uint8_t *code, size_t i)
{
	return i && (code[i - 1] & 0xf0) == 0x40;
}

static int arm_code(struct lz_tracer *t, uint64_t addr, const uint8_t *code, size_t n)
{
	struct lz_xsavec in;

	for (size_t i = 0; i < n; i++)
		if (lz_xsavec_decode(code + i, n - i, false, &in) && !has_prefix(code, i) &&
		    is_restored(code + i, n - i, &in) &&
		    lz_armed_add(t, LZ_ARMED_INSN, addr + i + in.at) < 0)
			return -1;
	return 0;
}

/* The linker's code is the first that is mapped behind its base. 1: done. */
static int arm_mapping(void *arg, const struct lz_maps_entry *e)
{
	struct linker *l = arg;
	uint8_t *code;
	int ret;

	if (e->end <= l->base || !(e->prot & PROT_EXEC))
		return 0;
	code = malloc(e->end - e->start);
	if (!code)
		return lz_fail("out of memory for the dynamic linker's code");
	size_t n = lz_proc_read_some(&l->t->p, e->start, code, e->end - e->start);
	ret = arm_code(l->t, e->start, code, n);
	free(code);
	return ret < 0 ? -1 : 1;
}

/* Where the dynamic linker is; without one, or if it is itself the program, where the program
 * begins. */
static uint64_t linker_base(pid_t pid)
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

int lz_xsavec_arm(struct lz_tracer *t)
{
	struct linker l = {t, linker_base(t->p.pid)};

	if (!l.base || !lz_xsavec_by_chance())
		return 0;
	return lz_proc_maps(t->p.pid, arm_mapping, &l) < 0 ? -1 : 0;
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
