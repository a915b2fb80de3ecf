/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What shared memory holds is logged; its holes by an operation that empties it. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/pages.h"
#include "tracer/memory/shared_data.h"

#include <string.h>
#include <sys/mman.h>

enum { BATCH = 64 };

/* Tracking finds the pages of a shared mapping that the program can write to; those of another one are
 * told to checkpoints here. So is what a private mapping shows of its file, which is no page of the
 * program's own: from now on checkpoints look at it. */
static int tell_pages(struct lz_tracer *t, struct lz_area *a, uint64_t page)
{
	const struct lz_vma *v = &a->v;

	if (v->flags & MAP_SHARED && (v->prot & PROT_WRITE || lz_flags_object(v->flags)))
		return 0;
	a->follows |= !(v->flags & MAP_SHARED);
	return lz_pages_changed(t, page, page + LZ_PAGE);
}

/* Part of a page is logged. */
int lz_shared_log_bytes(struct lz_tracer *t, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, addr);

	if (i >= 0 && lz_alias_shows(t, &t->vmas.a[i], addr)) /* logged there */
		return 0;
	if (lz_build_write(t, addr, bytes, len) < 0)
		return -1;
	return i < 0 ? 0 : tell_pages(t, &t->vmas.a[i], lz_page_down(addr));
}

int lz_shared_log_page(struct lz_tracer *t, uint64_t addr, bool zeroes)
{
	uint8_t page[LZ_PAGE];

	if (lz_proc_read_some(&t->p, addr, page, LZ_PAGE) != LZ_PAGE ||
	    (!zeroes && memcmp(page, lz_zero_page, LZ_PAGE) == 0))
		return 0;
	return lz_build_write(t, addr, page, LZ_PAGE);
}

/* ---- pages ---- */

struct pages {
	struct lz_tracer *t;
	bool private; /* its calls may have become jumps */
	const struct lz_pagemap *held;
	lz_shared_page_fn *fn;
	void *arg;
};

static int read_pages(const struct pages *p, uint64_t from, uint64_t to)
{
	static uint8_t batch[BATCH * LZ_PAGE];

	for (uint64_t at = from, n; at < to; at += n) {
		n = to - at < sizeof(batch) ? to - at : sizeof(batch);
		if (lz_proc_read(&p->t->p, at, batch, n) < 0 &&
		    lz_proc_read_some(&p->t->p, at, batch, n = LZ_PAGE) != LZ_PAGE)
			continue;
		if (p->private)
			lz_sites_show_some(&p->t->fast.sites, at, batch, n);
		for (uint64_t i = 0; i < n; i += LZ_PAGE)
			if (p->fn(p->t, at + i, batch + i, p->arg) < 0)
				return -1;
	}
	return 0;
}

static int held_page(void *arg, uint64_t addr, uint8_t *page)
{
	const struct pages *p = arg;

	(void)page;
	return p->fn(p->t, addr, lz_zero_page, p->arg);
}

static int stretch_pages(void *arg, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	const struct pages *p = arg;

	if (kind == LZ_STRETCH_DATA)
		return read_pages(p, from, to);
	if (kind == LZ_STRETCH_HOLE)
		return p->held ? lz_pagemap_each(p->held, from, to, held_page, arg) : 0;
	for (; from < to; from += LZ_PAGE)
		if (p->fn(p->t, from, lz_zero_page, p->arg) < 0)
			return -1;
	return 0;
}

int lz_shared_each_page(struct lz_tracer *t, const struct lz_area *a, const struct lz_pagemap *held,
                        lz_shared_page_fn *fn, void *arg)
{
	struct pages p = {t, !(a->v.flags & MAP_SHARED), held, fn, arg};

	return lz_shared_data(t, a, stretch_pages, &p);
}

/* ---- ranges ---- */

struct logged {
	struct lz_tracer *t;
	const struct lz_area *a;
};

static int log_page(struct lz_tracer *t, uint64_t addr, const uint8_t *page, void *arg)
{
	(void)arg;
	return lz_shared_log_bytes(t, addr, page, LZ_PAGE);
}

static int log_stretch(void *arg, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	const struct logged *l = arg;
	struct pages p = {l->t, !(l->a->v.flags & MAP_SHARED), NULL, log_page, NULL};

	if (kind != LZ_STRETCH_DATA && lz_map_emptied(l->t, l->a, from, to) < 0)
		return -1;
	return stretch_pages(&p, kind, from, to);
}

int lz_shared_log(struct lz_tracer *t, uint64_t from, uint64_t to)
{
	for (size_t i = lz_vmas_from(&t->vmas, from); i < t->vmas.n; i++) {
		const struct lz_area whole = t->vmas.a[i];
		if (whole.v.start >= to)
			break;
		struct lz_area a = lz_area_part(&whole, whole.v.start > from ? whole.v.start : from,
		                                whole.v.end < to ? whole.v.end : to);
		struct logged l = {t, &a};
		if ((a.v.flags & MAP_SHARED
		         ? lz_shared_data(t, &a, log_stretch, &l)
		         : log_stretch(&l, LZ_STRETCH_DATA, a.v.start, a.v.end)) < 0)
			return -1;
	}
	return lz_pages_changed(t, from, to);
}
