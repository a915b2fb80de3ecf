/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the program maps more than once: what is stored through one mapping shows through
 * the others at once. Replay is told, by a number in the mappings' flags, which of them show the
 * same. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/resident.h"
#include "tracer/memory/shared_data.h"

#include <lizard/error.h>
#include <string.h>
#include <sys/mman.h>

static bool is_shared(const struct lz_area *a)
{
	return a->v.flags & MAP_SHARED;
}

static bool overlap(const struct lz_area *a, const struct lz_area *b)
{
	return a->object == b->object && a->v.start != b->v.start &&
	       a->object_at < b->object_at + (b->v.end - b->v.start) &&
	       b->object_at < a->object_at + (a->v.end - a->v.start);
}

/* Mapped twice, and stored to? */
static bool has_alias(const struct lz_tracer *t, uint32_t object)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		if (a->object != object || !is_shared(a) || !(a->v.prot & PROT_WRITE))
			continue;
		for (size_t j = 0; j < t->vmas.n; j++)
			if (overlap(a, &t->vmas.a[j]))
				return true;
	}
	return false;
}

/* The number that the object's mappings already have; 0: none. */
static uint32_t number_of(const struct lz_tracer *t, uint32_t object)
{
	for (size_t i = 0; i < t->vmas.n; i++)
		if (t->vmas.a[i].object == object && lz_flags_object(t->vmas.a[i].v.flags))
			return lz_flags_object(t->vmas.a[i].v.flags);
	return 0;
}

static uint32_t free_number(const struct lz_tracer *t)
{
	bool taken[LZ_OBJECTS_MAX + 1] = {true};

	for (size_t i = 0; i < t->vmas.n; i++)
		taken[lz_flags_object(t->vmas.a[i].v.flags)] = true;
	for (uint32_t n = 1; n <= LZ_OBJECTS_MAX; n++)
		if (!taken[n])
			return n;
	return 0;
}

static bool has_memory(const struct lz_tracer *t, const struct lz_area *a, uint64_t *from,
                       uint64_t *to)
{
	const struct lz_object *o = lz_object(t, a->object);
	uint64_t size = lz_page_up(o->size);
	uint64_t len = a->v.end - a->v.start;

	*from = a->v.start;
	*to = a->v.end;
	if (o->segment) /* else what is mapped is behind its end */
		return a->v.file == LZ_NO_FILE;
	/* Behind the file's end an access must fail. */
	if (a->object_at >= size)
		return false;
	if (len > size - a->object_at)
		*to = *from + (size - a->object_at);
	return true;
}

void lz_alias_number(struct lz_area *a, uint32_t number)
{
	a->v.flags = (a->v.flags & ((1U << LZ_OBJECT_SHIFT) - 1)) | number << LZ_OBJECT_SHIFT;
	a->v.file = LZ_NO_FILE;
	a->v.offset = number ? a->object_at : 0;
}

static int log_own(void *t, uint64_t addr)
{
	return lz_shared_log_page(t, addr, true);
}

static int log_data(void *t, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	for (; kind == LZ_STRETCH_DATA && from < to; from += LZ_PAGE)
		if (lz_shared_log_page(t, from, false) < 0)
			return -1;
	return 0;
}

/* Replay begins with zeroes there; a private mapping with what the object holds. */
static int log_contents(struct lz_tracer *t, const struct lz_area *a)
{
	if (lz_vma_follows(&a->v))
		return lz_dirty_each_own(t, a->v.start, a->v.end, log_own);
	lz_resident_look_at(t, a);
	return lz_shared_data(t, a, log_data, t);
}

/* [FROM, TO) of area *A gets the number. */
static int number_part(struct lz_tracer *t, struct lz_area a, uint64_t from, uint64_t to,
                       uint32_t number, bool log)
{
	a.object_at += from - a.v.start;
	a.v.start = from;
	a.v.end = to;
	a.follows = false;
	lz_alias_number(&a, number);
	if (!log)
		return lz_vmas_add(&t->vmas, &a);
	return lz_map_op(t, &a) < 0 ? -1 : log_contents(t, &a);
}

int lz_alias_recheck(struct lz_tracer *t, uint32_t number)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area *a = &t->vmas.a[i];
		if (!lz_vma_follows(&a->v) || lz_flags_object(a->v.flags) != number)
			continue;
		a->follows = true;
		if (lz_pages_changed(t, a->v.start, a->v.end) < 0)
			return -1;
	}
	return 0;
}

/* The part of the private area A that shared mappings of the object show as well. */
static bool shown_part(const struct lz_tracer *t, const struct lz_area *a, uint64_t *from,
                       uint64_t *to)
{
	uint64_t a_end = a->object_at + (a->v.end - a->v.start);

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *b = &t->vmas.a[i];
		uint64_t at = b->object_at, end = at + (b->v.end - b->v.start);
		if (!is_shared(b) || !lz_flags_object(b->v.flags) || !overlap(a, b))
			continue;
		at = at > a->object_at ? at : a->object_at;
		end = end < a_end ? end : a_end;
		*from = a->v.start + (at - a->object_at);
		*to = a->v.start + (end - a->object_at);
		return true;
	}
	return false;
}

bool lz_alias_shows(const struct lz_tracer *t, const struct lz_area *a, uint64_t addr)
{
	struct lz_area page = *a;
	uint64_t from, to;

	page.object_at += addr - a->v.start;
	page.v.start = addr;
	page.v.end = addr + LZ_PAGE - addr % LZ_PAGE;
	return lz_vma_follows(&a->v) && shown_part(t, &page, &from, &to);
}

/* All the object's mappings of the kind that have none get the number. */
static int number_mappings(struct lz_tracer *t, uint32_t object, bool shared, uint32_t number,
                           bool log)
{
	uint64_t from, to;

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		if (a->object != object || is_shared(a) != shared || lz_flags_object(a->v.flags))
			continue;
		if (!(shared ? has_memory(t, a, &from, &to) : shown_part(t, a, &from, &to)))
			continue;
		if (number_part(t, *a, from, to, number, log) < 0)
			return -1;
		i = (size_t)-1; /* the areas are others now */
	}
	return 0;
}

int lz_alias_find(struct lz_tracer *t, uint32_t object, bool log)
{
	uint32_t number = object ? number_of(t, object) : 0;

	if (!object || (!number && !has_alias(t, object)))
		return 0;
	if (!number && !(number = free_number(t))) {
		/* too many: seen after the next call */
		lz_object_watch(t->shared, lz_object(t, object));
		return 0;
	}
	return number_mappings(t, object, true, number, log) < 0 ||
	               number_mappings(t, object, false, number, log) < 0
	           ? -1
	           : lz_alias_recheck(t, number);
}

int lz_alias_find_all(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		if (is_shared(a) && !a->object && a->v.role != LZ_VMA_BUFFER &&
		    lz_map_nameless(t, a->v.start) < 0)
			return -1;
	}
	for (uint32_t i = 1; t->shared && i < t->shared->n_objects; i++)
		if (lz_alias_find(t, i, false) < 0)
			return -1;
	return 0;
}

int lz_alias_writable(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	for (size_t i = lz_vmas_from(&t->vmas, start); i < t->vmas.n && t->vmas.a[i].v.start < end;
	     i++) {
		struct lz_area a = t->vmas.a[i];
		if (!is_shared(&a) || !a.object || lz_flags_object(a.v.flags))
			continue;
		if (lz_alias_find(t, a.object, true) < 0)
			return -1;
		i = lz_vmas_from(&t->vmas, a.v.end - 1);
	}
	return 0;
}
