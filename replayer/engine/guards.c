/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that are inaccessible while a re-executed process runs, for what debug registers cannot
 * watch. */
#include "replayer/engine/inside.h"
#include <lizard/error.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static int protect(struct lz_engine *e, uint64_t page, uint32_t prot)
{
	int64_t result;

	if (lz_engine_leave_call(e) < 0 || lz_engine_flush(e) < 0 ||
	    lz_proc_syscall(&e->proc, &result, SYS_mprotect, page, LZ_PAGE, prot, 0, 0, 0) < 0)
		return -1;
	return result
	           ? lz_fail("cannot protect the page %#lx for a watchpoint", (unsigned long)page)
	           : 0;
}

static const struct lz_vma *mapping_of(struct lz_engine *e, uint64_t page)
{
	const struct lz_vma *v = lz_space_find(&e->space, page);

	if (v || lz_space_follow_stack(&e->space, e->proc.pid) < 0)
		return v;
	return lz_space_find(&e->space, page);
}

int lz_engine_guard(struct lz_engine *e)
{
	for (size_t i = 0; i < e->guarded.n; i++) {
		struct lz_guarded *g = &e->guarded.v[i];
		if (g->in)
			continue;
		const struct lz_vma *v = mapping_of(e, g->page);
		if (!v || !(v->prot & PROT_WRITE) || v->role == LZ_VMA_BUFFER)
			continue;
		g->prot = v->prot;
		if (protect(e, g->page, g->reads ? PROT_NONE : v->prot & ~(uint32_t)PROT_WRITE) < 0)
			return -1;
		g->in = true;
	}
	return 0;
}

int lz_engine_unguard(struct lz_engine *e)
{
	for (size_t i = 0; i < e->guarded.n; i++) {
		struct lz_guarded *g = &e->guarded.v[i];
		if (g->in && protect(e, g->page, g->prot) < 0)
			return -1;
		g->in = false;
	}
	return 0;
}
