/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our copies of the program's pages: what each held at the last checkpoint. */
#include "tracer/memory/pages.h"

#include "tracer/memory/memory.h"

#include <common/base/array.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const uint8_t lz_zero_page[LZ_PAGE];

/* ---- pages from slabs: they come and go by the thousand ---- */

/* A huge page; but that takes longer to fill with zeroes than a short program to run. The first slabs are
 * smaller, each twice as large as the one before. */
enum { FIRST_SLAB = 32, SLAB = 512 };

int lz_page_drop(struct lz_pages *g, uint8_t *page)
{
	if (lz_reserve(g->spare, g->spare_room, g->n_spare + 1) < 0)
		return lz_fail("out of memory for page copies");
	g->spare[g->n_spare++] = page;
	return 0;
}

static int next_slab(const struct lz_pages *g)
{
	int pages = FIRST_SLAB;

	for (size_t i = 0; i < g->n_slabs && pages < SLAB; i++)
		pages *= 2;
	return pages;
}

static int new_slab(struct lz_pages *g)
{
	const int pages = next_slab(g);
	const size_t size = (size_t)pages * LZ_PAGE;
	uint8_t *slab;

	if (lz_extend(g->slab, g->n_slabs) < 0 ||
	    !(slab = aligned_alloc(pages == SLAB ? size : LZ_PAGE, size)))
		return lz_fail("out of memory for page copies");
	if (pages == SLAB)
		madvise(slab, size, MADV_HUGEPAGE);
	g->slab[g->n_slabs++] = slab;
	for (int i = pages; i-- > 0;)
		if (lz_page_drop(g, slab + (size_t)i * LZ_PAGE) < 0)
			return -1;
	return 0;
}

uint8_t *lz_page_new(struct lz_pages *g)
{
	if (!g->n_spare && new_slab(g) < 0)
		return NULL;
	return g->spare[--g->n_spare];
}

struct lz_pages *lz_pages_new(struct lz_tracer *t, int64_t uffd)
{
	struct lz_pages *g = calloc(1, sizeof(*g));
	char path[64];

	if (!g) {
		lz_fail("out of memory");
		return NULL;
	}
	g->uffd = -1;
	g->fresh = true;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)t->p.pid);
	g->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (g->pagemap < 0) {
		lz_fail_errno("cannot open %s", path);
		goto fail;
	}
	if (lz_dirty_open(t, g, uffd) < 0)
		goto fail;
	if (t->opt->dirty == LZ_DIRTY_SCAN && g->uffd < 0) {
		lz_fail("this system cannot scan for dirty pages; use --dirty=compare");
		goto fail;
	}
	for (size_t i = 0; i < t->vmas.n; i++)
		lz_dirty_arm(g, &t->vmas.a[i]);
	lz_debug("dirty pages: %s", g->uffd >= 0 ? "scan" : "compare");
	return g;
fail:
	lz_pages_free(g);
	return NULL;
}

void lz_pages_free(struct lz_pages *g)
{
	if (!g)
		return;
	if (g->pagemap >= 0)
		close(g->pagemap);
	if (g->uffd >= 0)
		close(g->uffd);
	while (g->n_slabs)
		free(g->slab[--g->n_slabs]);
	free(g->slab);
	lz_pagemap_free(&g->copy);
	free(g->spare);
	free(g->changed);
	free(g->cand);
	free(g->carry);
	lz_hot_free(g);
	free(g);
}

void lz_pages_track(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	for (size_t i = lz_vmas_from(&t->vmas, start);
	     t->pages && i < t->vmas.n && t->vmas.a[i].v.start < end; i++)
		lz_dirty_arm(t->pages, &t->vmas.a[i]);
}

/* As it may be gone again by now, what is told by the log is tracked when all of that is known. */
static void track_now_or_later(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	if (!t->fast.late.on) {
		lz_pages_track(t, start, end);
		return;
	}
	t->fast.late.start = start < t->fast.late.start ? start : t->fast.late.start;
	t->fast.late.end = end > t->fast.late.end ? end : t->fast.late.end;
}

static int by_start(const void *a, const void *b)
{
	const struct lz_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Programs map and unmap the same addresses by the thousand. */
static int make_room(struct lz_pages *g)
{
	size_t n = 0;

	if (g->n_changed < g->changed_room)
		return 0;
	if (g->n_changed)
		qsort(g->changed, g->n_changed, sizeof(*g->changed), by_start);
	for (size_t i = 0; i < g->n_changed; i++) {
		const struct lz_range r = g->changed[i];
		if (n && r.start <= g->changed[n - 1].end) {
			if (r.end > g->changed[n - 1].end)
				g->changed[n - 1].end = r.end;
		} else {
			g->changed[n++] = r;
		}
	}
	g->n_changed = n;
	if (lz_reserve(g->changed, g->changed_room, 2 * n + 1) < 0)
		return lz_fail("out of memory for changed ranges");
	return 0;
}

int lz_pages_changed(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	struct lz_pages *g = t->pages;

	if (!g || start >= end)
		return 0;
	track_now_or_later(t, start, end);
	if (g->n_changed && g->changed[g->n_changed - 1].start == start &&
	    g->changed[g->n_changed - 1].end == end)
		return 0;
	if (make_room(g) < 0)
		return -1;
	g->changed[g->n_changed++] = (struct lz_range){start, end};
	return 0;
}

/* ---- the set ---- */

void lz_set_add(struct lz_page_set *s, uint64_t addr, const uint8_t *now, const uint8_t *before)
{
	s->addr[s->n] = addr;
	s->now[s->n] = now;
	s->before[s->n++] = before;
}

int lz_set_room(struct lz_page_set *s, size_t n)
{
	s->addr = malloc((n + 1) * sizeof(*s->addr));
	s->now = malloc((n + 1) * sizeof(*s->now));
	s->before = malloc((n + 1) * sizeof(*s->before));
	return s->addr && s->now && s->before ? 0 : lz_fail("out of memory for %zu dirty pages", n);
}

/* Of candidates: where writing is tracked, only what was written to is one. */
static bool was_written(const struct lz_tracer *t, const struct lz_page_set *s, uint64_t addr)
{
	ptrdiff_t i = s->written ? lz_vmas_find(&t->vmas, addr) : -1;

	return i >= 0 && t->vmas.a[i].armed && !(t->vmas.a[i].v.flags & MAP_SHARED);
}

static bool all_mapped(const struct lz_tracer *t, const struct lz_range *r)
{
	uint64_t at = r->start;

	for (size_t i = lz_vmas_from(&t->vmas, at); i < t->vmas.n && at < r->end; i++) {
		if (t->vmas.a[i].v.start > at)
			return false;
		at = t->vmas.a[i].v.end;
	}
	return at >= r->end;
}

/* Is writing tracked wherever the program can write, and could since the last checkpoint? */
static bool all_tracked(const struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		if (a->v.prot & PROT_WRITE && a->v.role != LZ_VMA_BUFFER &&
		    (!a->armed || a->v.flags & MAP_SHARED))
			return false;
	}
	for (size_t i = 0; i < t->pages->n_changed; i++)
		if (!all_mapped(t, &t->pages->changed[i]))
			return false;
	return true;
}

/* Is a page of which nothing is said zeroes there? */
static bool is_empty(const struct lz_vma *v)
{
	return v->file == LZ_NO_FILE && !lz_vma_follows(v);
}

/* NOW: the page's contents, NULL if it is unmapped. */
static int compare_page(struct lz_tracer *t, struct lz_page_set *s, uint64_t addr,
                        const uint8_t *now)
{
	struct lz_pages *g = t->pages;
	uint8_t *old = lz_pagemap_get(&g->copy, addr);

	if (!now) {
		if (old)
			lz_set_add(s, addr, NULL, old);
		return 0;
	}
	bool same = old && memcmp(old, now, LZ_PAGE) == 0;
	if (same && !was_written(t, s, addr))
		return 0;
	if (!same && lz_hot_changed(g, addr) < 0)
		return -1;
	if (!old && memcmp(now, lz_zero_page, LZ_PAGE) == 0) {
		ptrdiff_t i = lz_vmas_find(&t->vmas, addr);
		bool empty = i >= 0 && is_empty(&t->vmas.a[i].v);
		if (empty && was_written(t, s, addr))
			lz_set_add(s, addr, NULL, NULL);
		if (empty)
			return 0;
	}
	uint8_t *page = lz_page_new(g);
	if (!page)
		return -1;
	memcpy(page, now, LZ_PAGE);
	lz_set_add(s, addr, page, old);
	return 0;
}

/* Only what a shared mapping shows as well. */
static bool shows_object(const struct lz_tracer *t, uint64_t addr)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, addr);

	return i >= 0 && lz_alias_shows(t, &t->vmas.a[i], addr) && !lz_dirty_owned(t, addr);
}

static int read_batch(struct lz_tracer *t, struct lz_page_set *s, const uint64_t *addr, size_t n)
{
	struct lz_pages *g = t->pages;
	size_t whole = n;

	if (lz_proc_read(&t->p, addr[0], g->batch, n * LZ_PAGE) < 0)
		whole = 0;
	for (size_t i = 0; i < n; i++) {
		uint8_t *now = g->batch + i * LZ_PAGE;
		if (i >= whole && lz_proc_read_some(&t->p, addr[i], now, LZ_PAGE) != LZ_PAGE)
			now = NULL;
		if (now && shows_object(t, addr[i]))
			now = NULL;
		if (now)
			lz_blocked_show(t, addr[i], now);
		if (now)
			lz_shared_show(t, addr[i], now);
		if (now)
			lz_sites_show(&t->fast.sites, addr[i], now);
		if (compare_page(t, s, addr[i], now) < 0)
			return -1;
	}
	return 0;
}

int lz_set_compare(struct lz_tracer *t, struct lz_page_set *s)
{
	struct lz_pages *g = t->pages;

	for (size_t i = 0, n; i < g->n_cand; i += n) {
		const uint64_t *c = g->cand + i;
		if (c[0] & LZ_PAGE_GONE) {
			n = 1;
			if (compare_page(t, s, c[0] - LZ_PAGE_GONE, lz_zero_page) < 0)
				return -1;
			continue;
		}
		bool mapped = lz_vmas_find(&t->vmas, c[0]) >= 0;
		for (n = 1; n < LZ_PAGES_BATCH && i + n < g->n_cand; n++)
			if (c[n] != c[n - 1] + LZ_PAGE ||
			    (lz_vmas_find(&t->vmas, c[n]) >= 0) != mapped)
				break;
		if (mapped && read_batch(t, s, c, n) < 0)
			return -1;
		for (size_t k = 0; !mapped && k < n; k++)
			if (compare_page(t, s, c[k], NULL) < 0)
				return -1;
	}
	return 0;
}

void lz_set_free(struct lz_page_set *s)
{
	free(s->addr);
	free(s->now);
	free(s->before);
	*s = (struct lz_page_set){0};
}

static int remember(struct lz_pages *g, const struct lz_page_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		uint8_t **held = lz_pagemap_at(&g->copy, s->addr[i]);
		if (!held)
			return lz_fail("out of memory for page copies");
		if (*held && lz_page_drop(g, *held) < 0)
			return -1;
		*held = (uint8_t *)s->now[i];
	}
	return 0;
}

/* Everything that differs from its backing, from our copy. */
static int whole_set(struct lz_tracer *t, struct lz_page_set *s)
{
	struct lz_pages *g = t->pages;
	size_t n = 0;

	if (lz_set_room(s, g->copy.used) < 0)
		return -1;
	for (size_t i = 0; i < g->copy.cap; i++) {
		uint64_t addr = (g->copy.slot[i].key - 1) * LZ_PAGE;
		uint8_t **page = &g->copy.slot[i].page;
		if (!*page)
			continue;
		ptrdiff_t a = lz_vmas_find(&t->vmas, addr);
		if (a < 0 ||
		    (is_empty(&t->vmas.a[a].v) && memcmp(*page, lz_zero_page, LZ_PAGE) == 0)) {
			if (lz_page_drop(g, *page) < 0)
				return -1;
			*page = NULL;
		} else {
			s->addr[n++] = addr;
		}
	}
	qsort(s->addr, n, sizeof(*s->addr), lz_by_address);
	for (; s->n < n; s->n++) {
		s->now[s->n] = lz_pagemap_get(&g->copy, s->addr[s->n]);
		s->before[s->n] = NULL;
	}
	return 0;
}

int lz_pages_collect(struct lz_tracer *t, bool whole, struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;

	*set = (struct lz_page_set){.written = true};
	if (lz_dirty_find(t, g) < 0 || lz_set_room(set, g->n_cand) < 0 ||
	    lz_set_compare(t, set) < 0)
		return -1;
	lz_hot_end(g);
	set->exact = !whole && all_tracked(t);
	g->fresh = false;
	g->n_changed = g->n_carry = 0;
	if (lz_blocked_mark(t) < 0)
		return -1;
	if (!whole)
		return 0;
	int ret = remember(g, set);
	lz_set_free(set);
	return ret < 0 ? -1 : whole_set(t, set);
}

int lz_pages_done(struct lz_tracer *t, struct lz_page_set *set, bool whole)
{
	int ret = whole ? 0 : remember(t->pages, set);

	lz_set_free(set);
	return ret;
}
