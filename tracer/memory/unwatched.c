/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that somebody could change is compared after each call until nobody can any more: the last
 * one has closed it, mappings count too, and the kernel grants a lease. Who opens it after that is
 * noticed as the first one was. Nor is it compared while the program has it mapped no more.
 *
 * inotify tells of the close a moment before the lease can be had, and does not tell of all that
 * ends. So the kernel is asked some times, seldom: meanwhile who opens the file waits or fails. */
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#define MS 1000000ULL
enum { GAP_MAX_MS = 500, MOST_TIMES = 16 };

void lz_unwatch_soon(struct lz_object *o)
{
	o->ask_gap = MS;
	o->next_ask = 0;
}

/* Who opens it must be noticed. */
static bool may_end(const struct lz_tracer *t, const struct lz_object *o)
{
	return o->any_time && o->ask_gap && !o->segment && o->shared && o->inotify > 0 &&
	       !t->follow.root && o->n_over < MOST_TIMES;
}

static bool is_over(struct lz_object *o, uint64_t now)
{
	if (now < o->next_ask)
		return false;
	o->next_ask = now + o->ask_gap;
	o->ask_gap = o->ask_gap < GAP_MAX_MS * MS ? 2 * o->ask_gap : 0;
	return lz_surely_unwritten(o);
}

/* May it change what is mapped? */
static bool is_watched(const struct lz_tracer *t, uint32_t object)
{
	const struct lz_object *o = lz_object(t, object);

	return o->any_time && (o->segment || lz_object_is_mapped(t, object));
}

bool lz_unwatch_due(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;
	bool due = false;

	for (uint32_t i = 1; i < s->n_objects; i++) {
		struct lz_object *o = &s->object[i];
		o->over = may_end(t, o) && is_over(o, lz_now());
		due |= o->over || (o->any_time && !is_watched(t, i));
	}
	return due;
}

static void end(struct lz_tracer *t, uint32_t object)
{
	struct lz_object *o = lz_object(t, object);

	o->watched = o->any_time = o->over = false;
	o->ask_gap = 0;
	o->n_over++;
	/* a child may open it again */
	if (o->guard == LZ_GUARD_REFUSED)
		o->guard = LZ_GUARD_NONE;
	lz_shared_unsure(t, object);
}

void lz_unwatch(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	s->watching = s->anonymous;
	for (uint32_t i = 1; i < s->n_objects; i++) {
		if (s->object[i].over)
			end(t, i);
		s->watching |= is_watched(t, i);
	}
}
