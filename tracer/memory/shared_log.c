/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What shared memory holds is logged; its holes by an operation that empties it. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/pages.h"
#include "tracer/memory/resident.h"
#include "tracer/memory/shared_data.h"

#include <lizard/error.h>
#include <string.h>
#include <sys/mman.h>

enum { BATCH = 64 };

/* What a private mapping shows of its file is logged: replay has another page there than the copy. */
static int note_logged(struct lz_tracer *t, struct lz_area *a, uint64_t page)
{
	struct lz_object *o = lz_object(t, a->object);
	uint8_t **noted = o ? lz_pagemap_at(&o->logged, a->object_at + (page - a->v.start)) : NULL;

	a->follows = true;
	if (noted)
		*noted = (uint8_t *)lz_zero_page;
	return o && !noted ? lz_fail("out of memory for the pages of mapped files") : 0;
}

/* Tracking finds the pages of a shared mapping that the program can write to; those of another one are
 * told to checkpoints here. So is what a private mapping shows of its file, which is no page of the
 * program's own: from now on checkpoints look at it. */
static int tell_pages(struct lz_tracer *t, struct lz_area *a, uint64_t page)
{
	const struct lz_vma *v = &a->v;

	if (v->flags & MAP_SHARED && (v->prot & PROT_WRITE || lz_flags_object(v->flags)))
		return 0;
	if (!(v->flags & MAP_SHARED) && note_logged(t, a, page) < 0)
		return -1;
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
	bool private;       /* its calls may have become jumps */
	uint64_t to_object; /* what is at an address is so much further in its object */
	/* by address; of a private mapping, by where they are in its object */
	const struct lz_pagemap *held, *logged;
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

static int shown_page(void *arg, uint64_t addr, uint8_t *page)
{
	(void)page;
	return read_pages(arg, addr, addr + LZ_PAGE);
}

static int logged_page(void *arg, uint64_t at, uint8_t *page)
{
	const struct pages *p = arg;

	return shown_page(arg, at - p->to_object, page);
}

/* Where a private mapping's file has a hole, and had contents, and where the program has stored. */
static int known_pages(const struct pages *p, uint64_t from, uint64_t to)
{
	if (p->logged && lz_pagemap_each(p->logged, from + p->to_object, to + p->to_object,
	                                 logged_page, (void *)p) < 0)
		return -1;
	return p->held ? lz_pagemap_each(p->held, from, to, shown_page, (void *)p) : 0;
}

static int stretch_pages(void *arg, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	const struct pages *p = arg;

	if (kind == LZ_STRETCH_DATA || (kind == LZ_STRETCH_GONE && p->private))
		return read_pages(p, from, to);
	if (kind == LZ_STRETCH_HOLE && p->private)
		return known_pages(p, from, to);
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
	const bool private = !(a->v.flags & MAP_SHARED);
	const struct lz_object *o = lz_object(t, a->object);
	struct pages p = {.t = t,
	                  .private = private,
	                  .to_object = a->object_at - a->v.start,
	                  .held = held,
	                  .logged = private && o ? &o->logged : NULL,
	                  .fn = fn,
	                  .arg = arg};

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

static int log_own_page(void *arg, uint64_t addr)
{
	struct lz_tracer *t = arg;
	const struct pages p = {.t = t, .private = true, .fn = log_page};

	return read_pages(&p, addr, addr + LZ_PAGE);
}

/* The program's own pages stay where its file has holes. */
static int log_private(const struct logged *l, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	const struct pages p = {.t = l->t, .private = true, .fn = log_page};

	if (kind != LZ_STRETCH_HOLE)
		return read_pages(&p, from, to);
	if (lz_vma_follows(&l->a->v))
		return 0;
	return lz_map_emptied(l->t, l->a, from, to) < 0
	           ? -1
	           : lz_dirty_each_own(l->t, from, to, log_own_page);
}

static int log_stretch(void *arg, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	const struct logged *l = arg;
	struct pages p = {.t = l->t, .fn = log_page};

	if (!(l->a->v.flags & MAP_SHARED))
		return log_private(l, kind, from, to);
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
		lz_resident_look_at(t, &a);
		if (lz_shared_data(t, &a, log_stretch, &l) < 0)
			return -1;
	}
	return lz_pages_changed(t, from, to);
}
