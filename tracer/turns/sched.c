/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who has the turn, and for how long. */
#include "tracer/log/log.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

enum {
	GRACE_MS =
	    2, /* after its slice a thread may come to a point by itself, which costs nothing */
};

void lz_sched_begin(struct lz_tracer *t)
{
	t->sched.slice = (t->opt->slice_ms ? t->opt->slice_ms : LZ_SLICE_MS) * 1000000ULL;
	lz_chaos_begin(t);
}

struct lz_thread *lz_sched_ready(const struct lz_tracer *t)
{
	size_t at = 0;

	if (t->sched.dying)
		return NULL;
	while (at < t->n_threads && t->thread[at] != t->cur)
		at++;
	for (size_t i = 1; i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[(at + i) % t->n_threads];

		if (th->ready)
			return th;
	}
	return NULL;
}

struct lz_thread *lz_sched_next(struct lz_tracer *t)
{
	return t->sched.chaos.on ? lz_chaos_next(t) : lz_sched_ready(t);
}

bool lz_sched_due(const struct lz_tracer *t)
{
	const struct lz_sched *s = &t->sched;

	if (t->n_threads < 2 || !lz_sched_ready(t))
		return false;
	return s->yielded || (s->chaos.on ? s->chaos.over : lz_stop_now() >= s->slice_end);
}

bool lz_sched_overdue(struct lz_tracer *t, uint64_t now)
{
	const struct lz_thread *cur = t->cur;

	if (cur->call.inside || cur->call.suspended || cur->ended || cur->listening)
		return false;
	if (lz_shared_lock_due(t, GRACE_MS * 1000000ULL))
		return true;
	if (t->n_threads < 2)
		return false;
	if (t->sched.chaos.on)
		t->sched.chaos.over |= lz_chaos_stuck(t);
	else if (now < t->sched.slice_end + GRACE_MS * 1000000ULL)
		return false;
	return lz_sched_due(t);
}

int lz_sched_turn(struct lz_tracer *t)
{
	t->sched.yielded = false;
	t->sched.slice_end = lz_stop_now() + t->sched.slice;
	return t->sched.chaos.on ? lz_chaos_turn(t) : 0;
}
