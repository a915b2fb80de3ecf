/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Breakpoints and watchpoints: see include/lizard/front.h. */
#include "replayer/front/inside.h"

#include <common/base/array.h>
#include <lizard/error.h>

/* No program can have memory there, so nothing happens to it; debug registers refuse such
 * addresses. */
static bool beyond_memory(const struct lz_front_break *b)
{
	return b->kind >= LZ_WATCH_WRITE && b->addr >= 1UL << 56;
}

bool lz_front_watches_nowhere(const struct lz_front *f)
{
	for (size_t i = 0; i < f->breaks.n; i++)
		if (beyond_memory(&f->breaks.v[i]))
			return true;
	return false;
}

static int put(struct lz_front *f, const struct lz_front_break *b)
{
	if (b->kind < LZ_WATCH_WRITE)
		return lz_session_break(f->s, b->addr);
	return lz_session_watch(f->s, b->addr, b->len, "wra"[b->kind - LZ_WATCH_WRITE]);
}

/* B's conditions are the list's from here on. */
static int insert(struct lz_front *f, struct lz_front_break b)
{
	if (lz_extend(f->breaks.v, f->breaks.n) < 0)
		return lz_fail("out of memory for breakpoints");
	b.set = !beyond_memory(&b) && put(f, &b) == 0;
	if (!b.set && !beyond_memory(&b) && b.kind >= LZ_WATCH_WRITE)
		return -1;
	f->breaks.v[f->breaks.n++] = b;
	return 0;
}

int lz_front_insert_if(struct lz_front *f, enum lz_front_kind kind, uint64_t addr,
                       const struct lz_front_condition *conditions, size_t n)
{
	struct lz_front_break b = {.kind = kind, .addr = addr, .len = 1};

	if (lz_front_conditions_copy(&b.conditions, conditions, n) < 0)
		return -1;
	lz_front_remove(f, kind, addr, 1);
	if (insert(f, b) < 0) {
		lz_front_conditions_free(&b.conditions);
		return -1;
	}
	return 0;
}

int lz_front_insert(struct lz_front *f, enum lz_front_kind kind, uint64_t addr, uint64_t len)
{
	if (kind < LZ_WATCH_WRITE)
		return lz_front_insert_if(f, kind, addr, NULL, 0);
	return insert(f, (struct lz_front_break){.kind = kind, .addr = addr, .len = len});
}

void lz_front_remove(struct lz_front *f, enum lz_front_kind kind, uint64_t addr, uint64_t len)
{
	for (size_t i = 0; i < f->breaks.n; i++) {
		struct lz_front_break *b = &f->breaks.v[i];
		bool watch = kind >= LZ_WATCH_WRITE;

		if (b->kind != kind || b->addr != addr || (watch && b->len != len))
			continue;
		if (b->set && !watch)
			lz_session_unbreak(f->s, addr);
		else if (b->set)
			lz_session_unwatch(f->s, addr, len, "wra"[kind - LZ_WATCH_WRITE]);
		lz_front_conditions_free(&b->conditions);
		*b = f->breaks.v[--f->breaks.n];
		return;
	}
}

void lz_front_breaks_retry(struct lz_front *f)
{
	for (size_t i = 0; i < f->breaks.n; i++)
		if (!f->breaks.v[i].set && !beyond_memory(&f->breaks.v[i]))
			f->breaks.v[i].set = put(f, &f->breaks.v[i]) == 0;
}

void lz_front_breaks_heed(struct lz_front *f, bool conditions)
{
	for (size_t i = 0; i < f->breaks.n; i++) {
		const struct lz_front_break *b = &f->breaks.v[i];
		bool heed = conditions && b->conditions.n;

		if (b->set && b->kind < LZ_WATCH_WRITE)
			lz_session_condition(f->s, b->addr, heed ? lz_front_condition_holds : NULL,
			                     f);
	}
}

const struct lz_front_break *lz_front_break_at(const struct lz_front *f, uint64_t addr)
{
	for (size_t i = 0; i < f->breaks.n; i++)
		if (f->breaks.v[i].kind < LZ_WATCH_WRITE && f->breaks.v[i].addr == addr)
			return &f->breaks.v[i];
	return NULL;
}
