/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that others may store to at any time is compared with what was logged last. */
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/resident.h"
#include "tracer/memory/shared_lock_page.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* Behind the page's bytes: is it to be logged whole? */
enum { UNSURE = LZ_PAGE, SEEN_SIZE };

/* What replay has there nobody knows. */
static uint8_t *new_page(void)
{
	uint8_t *seen = calloc(1, SEEN_SIZE);

	if (seen)
		seen[UNSURE] = true;
	return seen;
}

static uint8_t *seen_page(struct lz_tracer *t, uint64_t addr)
{
	uint8_t **seen = lz_pagemap_at(&t->shared->seen, addr);

	if (!seen || (!*seen && !(*seen = new_page()))) {
		lz_fail("out of memory for shared pages");
		return NULL;
	}
	return *seen;
}

static int sync_page(struct lz_tracer *t, uint64_t addr, const uint8_t *now, void *arg)
{
	uint8_t *seen = seen_page(t, addr);
	uint32_t from = 0, to = LZ_PAGE;

	(void)arg;
	if (!seen)
		return -1;
	bool unsure = seen[UNSURE];
	if (!unsure && memcmp(seen, now, LZ_PAGE) == 0)
		return 0;
	while (!unsure && seen[from] == now[from])
		from++;
	while (!unsure && seen[to - 1] == now[to - 1])
		to--;
	memcpy(seen, now, LZ_PAGE);
	seen[UNSURE] = false;
	return lz_shared_log_bytes(t, addr + from, now + from, to - from);
}

/* What is new is the program's own, or the kernel has stored it meanwhile for a call of another
 * process. */
static int refresh_page(struct lz_tracer *t, uint64_t addr, const uint8_t *now, void *arg)
{
	uint8_t *seen = seen_page(t, addr);

	(void)arg;
	if (!seen)
		return -1;
	if (memcmp(seen, now, LZ_PAGE) == 0)
		return 0;
	memcpy(seen, now, LZ_PAGE);
	seen[UNSURE] = true;
	return 0;
}

static bool is_compared(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	return a->v.role != LZ_VMA_BUFFER &&
	       (lz_is_shared_with_others(t, a) || lz_shared_lock_for(t, a) || (o && o->watched));
}

/* May it have changed since the last comparison? */
static bool is_uncertain(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	return is_compared(t, a) &&
	       (!lz_shared_lock_quiet(t) || (o ? o->any_time : t->shared->anonymous));
}

static int compare(struct lz_tracer *t, const struct lz_area *a, lz_shared_page_fn *fn)
{
	return lz_shared_each_page(t, a, &t->shared->seen, fn, NULL);
}

/* Others may have written there since the last call: what differs is logged, the program's own
 * stores with it, which does no harm. */
int lz_shared_sync(struct lz_tracer *t)
{
	bool looked = false;

	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area a = t->vmas.a[i];
		if (!is_uncertain(t, &a))
			continue;
		if (!looked)
			lz_resident_look(t);
		looked = true;
		if (compare(t, &a, sync_page) < 0)
			return -1;
	}
	t->shared->settled = true;
	t->shared_lock.news = false;
	return 0;
}

int lz_shared_refresh(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area a = t->vmas.a[i];
		if (is_compared(t, &a) && compare(t, &a, refresh_page) < 0)
			return -1;
	}
	return 0;
}

static int unsure_page(void *arg, uint64_t addr, uint8_t *page)
{
	(void)arg;
	(void)addr;
	page[UNSURE] = true;
	return 0;
}

void lz_shared_unsure(struct lz_tracer *t, uint32_t object)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		if (a->object == object)
			lz_pagemap_each(&t->shared->seen, a->v.start, a->v.end, unsure_page, NULL);
	}
}

bool lz_shared_by_others(const struct lz_tracer *t)
{
	const struct lz_shared *s = t->shared;

	return s && (s->watching || (((t->has_children && t->n_shared && !lz_shared_guarded(t)) ||
	                              lz_shared_lock_needed(t)) &&
	                             !lz_shared_lock_quiet(t)));
}

void lz_shared_unsettle(struct lz_tracer *t)
{
	if (t->shared)
		t->shared->settled = false;
}

void lz_shared_show(const struct lz_tracer *t, uint64_t addr, uint8_t *page)
{
	ptrdiff_t i = t->shared && t->shared->settled ? lz_vmas_find(&t->vmas, addr) : -1;
	const uint8_t *seen = i >= 0 && is_uncertain(t, &t->vmas.a[i])
	                          ? lz_pagemap_get(&t->shared->seen, addr)
	                          : NULL;

	if (seen)
		memcpy(page, seen, LZ_PAGE);
}

void lz_shared_unsee(struct lz_shared *s)
{
	for (size_t i = 0; i < s->seen.cap; i++)
		free(s->seen.slot[i].page);
	lz_pagemap_free(&s->seen);
}
