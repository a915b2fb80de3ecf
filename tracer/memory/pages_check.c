/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests: our copies of pages against the program's. */
#include "tracer/memory/memory.h"
#include "tracer/memory/pages.h"

#include <lizard/error.h>
#include <string.h>

/* Is every page that the program owns what we believe it to be? */
int lz_pages_check(struct lz_tracer *t)
{
	struct lz_pages *g = t->pages;

	g->n_cand = 0;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (!lz_dirty_tracked(v))
			continue;
		int ret = lz_dirty_own(g, v->start, v->end);
		if (ret < 0)
			return -1;
	}
	for (size_t i = 0; i < g->n_cand; i++) {
		uint64_t addr = g->cand[i];
		const uint8_t *held = lz_pagemap_get(&g->copy, addr);
		ptrdiff_t a = lz_vmas_find(&t->vmas, addr);
		if (lz_proc_read_some(&t->p, addr, g->batch, LZ_PAGE) != LZ_PAGE)
			continue;
		lz_blocked_show(t, addr, g->batch);
		lz_sites_show(&t->fast.sites, addr, g->batch);
		/* else it is as in its file */
		if (lz_sites_had(&t->fast.sites, addr) && !held)
			continue;
		if (!held && a >= 0 && t->vmas.a[a].v.file == LZ_NO_FILE)
			held = lz_zero_page;
		if (!held || memcmp(held, g->batch, LZ_PAGE) != 0)
			return lz_fail("self check: page %#llx changed unseen (%s)",
			               (unsigned long long)addr, held ? "written" : "new");
	}
	return 0;
}
