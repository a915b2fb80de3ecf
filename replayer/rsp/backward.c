/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reverse runs of a debugger that knows none: `monitor backward`, then any resume.
 *
 * LLDB steps over the breakpoint at hand before it goes on, without that breakpoint. A run
 * backwards has to meet it, so it stays until LLDB sets it again. */
#include "replayer/rsp/inside.h"

#include <common/base/array.h>

void lz_rsp_turn(struct lz_rsp *p)
{
	p->turned = true;
}

static bool forget_spared(struct lz_rsp *p, enum lz_front_kind kind, uint64_t addr)
{
	for (size_t i = 0; i < p->n_spared; i++) {
		if (p->spared[i].kind != kind || p->spared[i].addr != addr)
			continue;
		p->spared[i] = p->spared[--p->n_spared];
		return true;
	}
	return false;
}

bool lz_rsp_spare(struct lz_rsp *p, char what, enum lz_front_kind kind, uint64_t addr)
{
	if (what == 'Z')
		return forget_spared(p, kind, addr);
	if (!p->turned || kind >= LZ_WATCH_WRITE || lz_extend(p->spared, p->n_spared) < 0)
		return false;
	p->spared[p->n_spared++] = (struct lz_rsp_spared){kind, addr};
	return true;
}

void lz_rsp_turn_resume(struct lz_rsp *p, struct lz_front_resume *r)
{
	if (p->turned)
		*r = (struct lz_front_resume){
		    .how = LZ_RESUME_CONTINUE, .direction = LZ_BACKWARD, .tid = r->tid};
	p->moved = p->turned;
	p->turned = false;
}
