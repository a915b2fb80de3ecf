/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of page tracking: pages.c, dirty.c, hot_pages.c, pages_watch.c. */
#ifndef LIZARD_TRACER_PAGES_H
#define LIZARD_TRACER_PAGES_H

#include "tracer/state/tracer.h"

#include <common/process/pagemap.h>

enum { LZ_PAGES_BATCH = 256, LZ_PAGE_GONE = 1 };

struct lz_range {
	uint64_t start, end;
};

/* Pages that changed until the last checkpoint. */
struct lz_run {
	uint64_t start, end;
	bool hot; /* not write-protected */
};

struct lz_runs {
	struct lz_run *a; /* by address */
	size_t n, room;
};

struct lz_pages {
	int pagemap, uffd; /* uffd -1: compare */
	bool fresh;        /* nothing collected in this image yet */
	struct lz_pagemap copy;
	uint8_t **slab; /* all pages' memory */
	size_t n_slabs;
	uint8_t **spare; /* unused pages */
	size_t n_spare, spare_room;
	struct lz_range *changed;
	size_t n_changed, changed_room;
	uint64_t *cand; /* pages to look at; with LZ_PAGE_GONE: a hole, not to be read */
	size_t n_cand, cand_room;
	uint64_t *carry; /* seen as written by lz_pages_watch(), not collected yet */
	size_t n_carry;
	struct lz_runs hot, hot_next; /* of the last checkpoint; of the one being taken */
	size_t hot_at;
	/* Events and bytes of markers when pages became unwritten. */
	uint64_t cleared_event, cleared_marker;
	struct lz_page_set before; /* compare: at lz_pages_watch() */
	uint8_t batch[LZ_PAGES_BATCH * LZ_PAGE];
};

extern const uint8_t lz_zero_page[LZ_PAGE];

/* pages.c */
int lz_page_drop(struct lz_pages *g, uint8_t *page);
uint8_t *lz_page_new(struct lz_pages *g);
void lz_set_add(struct lz_page_set *s, uint64_t addr, const uint8_t *now, const uint8_t *before);
int lz_set_room(struct lz_page_set *s, size_t n);
void lz_set_free(struct lz_page_set *s);
/* Adds those of g->cand that differ from our copy. */
int lz_set_compare(struct lz_tracer *t, struct lz_page_set *s);

/* dirty.c */
/* MADE: the descriptor of lz_dirty_call(), which the program closes. */
int lz_dirty_open(struct lz_tracer *t, struct lz_pages *g, int64_t made);
bool lz_dirty_tracked(const struct lz_vma *v);
void lz_dirty_arm(struct lz_pages *g, struct lz_area *a);
int lz_dirty_add(struct lz_pages *g, uint64_t addr);
int lz_dirty_all(struct lz_pages *g, uint64_t start, uint64_t end);
/* Makes the program's own pages candidates. */
int lz_dirty_own(struct lz_pages *g, uint64_t start, uint64_t end);
/* Makes those candidates that have been written to; with CLEAR they count as unwritten from now on.
 * 1: the range is not write-protected throughout. */
int lz_dirty_scan(struct lz_pages *g, uint64_t start, uint64_t end, bool clear);
int lz_dirty_from_area(struct lz_tracer *t, struct lz_pages *g, struct lz_area *a);
/* Pages count as unwritten from here on. */
void lz_dirty_cleared(struct lz_tracer *t, struct lz_pages *g);
/* Fills g->cand, sorted: whatever may have changed since the last collection. */
int lz_dirty_find(struct lz_tracer *t, struct lz_pages *g);
/* The candidates, each page once; that it is a hole stays known. */
void lz_dirty_sort(struct lz_pages *g);
int lz_by_address(const void *a, const void *b);

/* hot_pages.c. A collection begins, finds its candidates area by area, tells which have changed
 * (in the order of their addresses), and ends. */
int lz_hot_begin(struct lz_pages *g);
/* What is hot, and what has been written to of the rest; as lz_dirty_scan(). */
int lz_hot_scan(struct lz_pages *g, uint64_t start, uint64_t end);
int lz_hot_changed(struct lz_pages *g, uint64_t addr);
void lz_hot_end(struct lz_pages *g);
void lz_hot_none(struct lz_pages *g);
void lz_hot_free(struct lz_pages *g);

#endif
