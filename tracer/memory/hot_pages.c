/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that change from checkpoint to checkpoint. To protect them would cost the program a
 * fault for each, to learn what is known; they stay unprotected and are compared instead. */
#include "tracer/memory/pages.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

/* Shorter runs cost more calls of the kernel than they save faults. */
enum { MIN_PAGES = 8 };

static bool too_short(const struct lz_run *r)
{
	return r->end - r->start < MIN_PAGES * LZ_PAGE;
}

/* ADDR is behind all that L has. */
static int append(struct lz_runs *l, uint64_t addr, bool hot)
{
	struct lz_run *last = l->n ? &l->a[l->n - 1] : NULL;

	if (last && last->end == addr && last->hot == hot) {
		last->end += LZ_PAGE;
		return 0;
	}
	if (last && too_short(last))
		l->n--;
	if (lz_reserve(l->a, l->room, l->n + 1) < 0)
		return lz_fail("out of memory for the list of hot pages");
	l->a[l->n++] = (struct lz_run){addr, addr + LZ_PAGE, hot};
	return 0;
}

static void turn(struct lz_pages *g)
{
	struct lz_runs old = g->hot;

	g->hot = g->hot_next;
	if (g->hot.n && too_short(&g->hot.a[g->hot.n - 1]))
		g->hot.n--;
	g->hot_next = old;
	g->hot_next.n = g->hot_at = 0;
}

/* What changed until the last checkpoint is hot if it has been written to since. */
int lz_hot_begin(struct lz_pages *g)
{
	for (size_t i = 0; i < g->hot.n; i++) {
		const struct lz_run *r = &g->hot.a[i];

		g->n_cand = 0;
		if ((r->hot ? lz_dirty_all(g, r->start, r->end)
		            : lz_dirty_scan(g, r->start, r->end, false)) < 0)
			return -1;
		for (size_t k = 0; k < g->n_cand; k++)
			if (append(&g->hot_next, g->cand[k], true) < 0)
				return -1;
	}
	turn(g);
	return 0;
}

/* The first run that ends behind ADDR. */
static size_t first_behind(const struct lz_runs *l, uint64_t addr)
{
	return lz_lower_bound(i, l->n, l->a[i].end <= addr);
}

int lz_hot_scan(struct lz_pages *g, uint64_t start, uint64_t end)
{
	const struct lz_runs *l = &g->hot;
	int ret;

	for (size_t i = first_behind(l, start); i < l->n && l->a[i].start < end; i++) {
		uint64_t from = l->a[i].start > start ? l->a[i].start : start;
		uint64_t to = l->a[i].end < end ? l->a[i].end : end;

		ret = lz_dirty_scan(g, start, from, true);
		if (ret || (ret = lz_dirty_all(g, from, to)))
			return ret;
		start = to;
	}
	return lz_dirty_scan(g, start, end, true);
}

int lz_hot_changed(struct lz_pages *g, uint64_t addr)
{
	const struct lz_runs *l = &g->hot;

	if (g->uffd < 0)
		return 0;
	while (g->hot_at < l->n && l->a[g->hot_at].end <= addr)
		g->hot_at++;
	return append(&g->hot_next, addr, g->hot_at < l->n && l->a[g->hot_at].start <= addr);
}

void lz_hot_end(struct lz_pages *g)
{
	turn(g);
}

void lz_hot_none(struct lz_pages *g)
{
	g->hot.n = g->hot_next.n = g->hot_at = 0;
}

void lz_hot_free(struct lz_pages *g)
{
	free(g->hot.a);
	free(g->hot_next.a);
}
