/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that another process writes. */
#include "tracer/memory/memory.h"
#include "tracer/memory/pages.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* The candidates so far stay candidates. */
static int carry_on(struct lz_pages *g)
{
	uint64_t *c = malloc((g->n_cand + 1) * sizeof(*c));

	if (!c)
		return lz_fail("out of memory for the list of dirty pages");
	for (size_t i = 0; i < g->n_cand; i++) /* a hole may be filled by then */
		c[i] = g->cand[i] & ~(uint64_t)LZ_PAGE_GONE;
	free(g->carry);
	g->carry = c;
	g->n_carry = g->n_cand;
	return 0;
}

/* What has been written since the last time. Of all else the next checkpoint finds out. */
static int find_written(struct lz_tracer *t, struct lz_pages *g)
{
	g->n_cand = 0;
	for (size_t i = 0; i < t->vmas.n; i++)
		if (t->vmas.a[i].armed && lz_dirty_from_area(t, g, &t->vmas.a[i]) < 0)
			return -1;
	lz_dirty_cleared(t, g);
	return 0;
}

/* These stay candidates, and those of before. */
static int carry_on_with_more(struct lz_pages *g)
{
	for (size_t i = 0; i < g->n_carry; i++)
		if (lz_dirty_add(g, g->carry[i]) < 0)
			return -1;
	lz_dirty_sort(g);
	return carry_on(g);
}

bool lz_pages_compared(const struct lz_tracer *t)
{
	return t->pages->uffd < 0;
}

int lz_pages_watch(struct lz_tracer *t)
{
	struct lz_pages *g = t->pages;

	lz_hot_none(g); /* or all that is hot would count as written meanwhile */
	if (g->uffd >= 0)
		return find_written(t, g) < 0 ? -1 : carry_on_with_more(g);
	if (lz_dirty_find(t, g) < 0 || carry_on(g) < 0)
		return -1;
	return lz_set_room(&g->before, g->n_cand) < 0 ? -1 : lz_set_compare(t, &g->before);
}

static const uint8_t *find_now(const struct lz_pages *g, const struct lz_page_set *s, uint64_t addr)
{
	const uint64_t *p = bsearch(&addr, s->addr, s->n, sizeof(addr), lz_by_address);
	const uint8_t *held = p ? s->now[p - s->addr] : lz_pagemap_get(&g->copy, addr);

	return held ? held : lz_zero_page;
}

/* What differs between g->before and AFTER, both relative to our copy. */
static int differences(struct lz_tracer *t, const struct lz_page_set *after,
                       struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;
	const struct lz_page_set *both[2] = {&g->before, after};

	if (lz_set_room(set, g->before.n + after->n) < 0)
		return -1;
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < both[k]->n; i++) {
			uint64_t addr = both[k]->addr[i];
			const uint8_t *now = find_now(g, after, addr);
			if (memcmp(now, find_now(g, &g->before, addr), LZ_PAGE) == 0)
				continue;
			uint8_t *page = lz_page_new(g);
			if (!page)
				return -1;
			memcpy(page, now, LZ_PAGE);
			lz_set_add(set, addr, page, NULL);
		}
	}
	return 0;
}

static int watched_compare(struct lz_tracer *t, struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;
	struct lz_page_set after = {0};

	if (lz_dirty_find(t, g) < 0 || lz_set_room(&after, g->n_cand) < 0 ||
	    lz_set_compare(t, &after) < 0 || differences(t, &after, set) < 0)
		return -1;
	lz_pages_forget(t, &after);
	lz_pages_forget(t, &g->before);
	return 0;
}

int lz_pages_watched(struct lz_tracer *t, struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;

	if (g->uffd < 0)
		return watched_compare(t, set);
	if (find_written(t, g) < 0 || lz_set_room(set, g->n_cand) < 0)
		return -1;
	for (size_t i = 0; i < g->n_cand; i++) {
		uint8_t *page = lz_page_new(g);
		if (!page)
			return -1;
		if (lz_proc_read(&t->p, g->cand[i], page, LZ_PAGE) < 0)
			return -1;
		lz_blocked_show(t, g->cand[i], page); /* that was the kernel, for another thread */
		lz_sites_show(&t->fast.sites, g->cand[i], page);
		lz_set_add(set, g->cand[i], page, NULL);
	}
	return carry_on_with_more(g);
}

void lz_pages_forget(struct lz_tracer *t, struct lz_page_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->now[i])
			lz_page_drop(t->pages, (uint8_t *)set->now[i]);
	lz_set_free(set);
}
