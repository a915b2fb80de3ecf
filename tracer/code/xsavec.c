/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arms the dynamic linker's xsavec, and does it: see lizard/xsavec.h. */
#include "tracer/code/code.h"
#include "tracer/log/log.h"

#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/xsavec.h>
#include <string.h>

int lz_xsavec_arm(struct lz_tracer *t)
{
	const struct lz_vma *v;
	const uint64_t *sites;
	size_t n;

	if (!lz_xsavec_by_chance() || !(v = lz_linker_code(t)))
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
