/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --chaos: turns of random length for random threads, so that races show up.
 *
 * A turn ends after a number of marker bytes or of system calls, both drawn from the seed, never
 * after a time: so the same seed gives the same turns to a program whose input is the same. Each
 * thread has a random priority; the highest that can run does, and now and then somebody draws a
 * new one (after Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of
 * Finding Bugs", 2010). The end at a marker is a data breakpoint on its code byte. */
#include "tracer/log/log.h"
#include "tracer/turns/turns.h"

#include <lizard/error.h>
#include <sched.h>

enum {
	/* Debug registers, for the stream's byte and a call's return; leave_rep.c has 0. */
	SLOT = 1,
	RETURN_SLOT = 2,
	MIN_MARKERS_LOG2 = 4,
	MAX_MARKERS_LOG2 = 17,
	SAME_LENGTH = 128, /* turns until they may get longer */
	CALLS_LOG2 = 5,
	STEPS_LOG2 = 8,
	LOCK_STEPS = 160, /* to come to one that locks */
	CALLS_OVER = 3,
	CALL_STEPS = 8,   /* behind the last of these, */
	CALL_MOST = 4096, /* of so many marker bytes each */
	STUCK_MS = 2
};

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014: splitmix64. */
static uint64_t draw(struct lz_chaos *c)
{
	uint64_t x = c->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Short turns are likelier: a short program has many then, and in a long one they get longer. */
void lz_chaos_begin(struct lz_tracer *t)
{
	enum { N = MAX_MARKERS_LOG2 - MIN_MARKERS_LOG2 + 1 };
	struct lz_chaos *c = &t->sched.chaos;

	c->state = t->opt->chaos_seed;
	c->on = t->opt->chaos_seed != 0;
	const uint64_t a = draw(c) % N, b = draw(c) % N;
	c->first_log2 = (unsigned)(MIN_MARKERS_LOG2 + (a < b ? a : b));
}

uint64_t lz_chaos_priority(struct lz_tracer *t)
{
	return draw(&t->sched.chaos);
}

struct lz_thread *lz_chaos_next(struct lz_tracer *t)
{
	struct lz_chaos *c = &t->sched.chaos;
	struct lz_thread *best = NULL;

	if (draw(c) % 4 == 0)
		t->thread[draw(c) % t->n_threads]->priority = draw(c);
	for (size_t i = 0; i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];

		if (th->ready && th != t->cur && (!best || th->priority > best->priority))
			best = th;
	}
	return best;
}

/* The data breakpoint for the end of the turn, if that lies in the present buffer. */
int lz_chaos_watch(struct lz_tracer *t)
{
	struct lz_chaos *c = &t->sched.chaos;
	const struct lz_stream *s = &t->s;
	uint64_t at = lz_stream_offset(t);

	if (!c->on || !s->mem || t->n_threads < 2)
		return 0;
	if (c->until <= at)
		c->over = true;
	if (c->over || c->until - s->start >= LZ_BUFFER_GUARD)
		return t->cur->watched ? lz_proc_set_debug(&t->p, SLOT, 0, 1, 0) : 0;
	t->cur->watched = true;
	return lz_proc_set_debug(&t->p, SLOT, s->base + (c->until - s->start), 1, 'w');
}

/* Whoever has lost the turn in a call may still have one from then. */
static int forget_return(struct lz_tracer *t)
{
	t->sched.chaos.return_at = 0;
	if (!t->cur->returns)
		return 0;
	t->cur->returns = false;
	return lz_proc_set_debug(&t->p, RETURN_SLOT, 0, 1, 0);
}

int lz_chaos_unwatch(struct lz_tracer *t)
{
	t->cur->watched = false;
	return forget_return(t) < 0 ? -1 : lz_proc_set_debug(&t->p, SLOT, 0, 1, 0);
}

enum lz_chaos_trap lz_chaos_trapped(struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct lz_chaos *c = &t->sched.chaos;
	uint64_t fired;

	if (!(t->cur->watched || t->cur->returns) || lz_proc_take_debug(&t->p, &fired) < 0)
		return LZ_CHAOS_NONE;
	if (fired >> SLOT & 1)
		return LZ_CHAOS_MARKER;
	if (!(fired >> RETURN_SLOT & 1))
		return LZ_CHAOS_NONE;
	return c->return_at == r->rip && c->return_sp == r->rsp ? LZ_CHAOS_RETURN : LZ_CHAOS_PASSED;
}

/* Of ten turns two end at the point, four some instructions behind it, two behind the next
 * instruction that locks and perhaps a few more, two some instructions behind one of the next calls:
 * each instruction costs a stop. */
static void draw_steps(struct lz_chaos *c)
{
	const uint64_t kind = draw(c) % 10;

	c->to_lock = kind >= 6 && kind < 8;
	c->over_calls = kind < 8 ? 0 : 1 + (uint32_t)(draw(c) % CALLS_OVER);
	if (kind < 2)
		c->steps = 0;
	else if (c->to_lock)
		c->steps = LOCK_STEPS;
	else if (c->over_calls)
		c->steps = 1 + (uint32_t)(draw(c) % CALL_STEPS);
	else
		c->steps = 1 + draw(c) % (2U << draw(c) % STEPS_LOG2);
}

int lz_chaos_over_call(struct lz_tracer *t, uint64_t return_at, uint64_t sp)
{
	struct lz_chaos *c = &t->sched.chaos;

	c->over = false;
	c->until = lz_stream_offset(t) + CALL_MOST;
	c->calls = 1U << CALLS_LOG2;
	c->return_at = return_at;
	c->return_sp = sp;
	t->cur->returns = true;
	if (lz_proc_set_debug(&t->p, RETURN_SLOT, return_at, 1, 'x') < 0)
		return -1;
	return lz_chaos_watch(t);
}

/* How long turns may be differs from seed to seed. They get longer, lest short ones take all the time
 * of a long run. */
static unsigned max_log2(struct lz_chaos *c)
{
	const uint64_t most = c->first_log2 + c->turns / SAME_LENGTH;

	return most < MAX_MARKERS_LOG2 ? (unsigned)most : MAX_MARKERS_LOG2;
}

/* In marker bytes. Of four turns one is as short as any: a thread may not live long. */
static uint64_t length(struct lz_chaos *c)
{
	const unsigned most = draw(c) % 4 ? max_log2(c) : MIN_MARKERS_LOG2 + 1;

	return (draw(c) & ((1ULL << draw(c) % most) - 1)) + 1;
}

int lz_chaos_turn(struct lz_tracer *t)
{
	struct lz_chaos *c = &t->sched.chaos;

	c->turns++;
	c->until = lz_stream_offset(t) + length(c);
	c->calls = (uint32_t)(draw(c) % (1U << draw(c) % (CALLS_LOG2 + 1))) + 1;
	draw_steps(c);
	if (forget_return(t) < 0)
		return -1;
	/* a short turn begins to end where it begins */
	c->over = c->steps && draw(c) % 4 == 0;
	return lz_chaos_watch(t);
}

void lz_chaos_call(struct lz_tracer *t)
{
	struct lz_chaos *c = &t->sched.chaos;

	if (c->calls && --c->calls == 0)
		c->over = true;
}

int lz_chaos_soon(struct lz_tracer *t)
{
	struct lz_chaos *c = &t->sched.chaos;

	c->over = false;
	c->until = lz_stream_offset(t) + 1;
	c->calls = 1;
	return lz_chaos_watch(t);
}

void lz_chaos_seen(struct lz_tracer *t)
{
	struct lz_chaos *c = &t->sched.chaos;

	c->seen_marker = lz_stream_offset(t);
	c->seen_event = t->next_event;
	c->seen_time = lz_program_time(t);
}

/* Neither markers nor calls while the program computed: it spins. */
bool lz_chaos_stuck(struct lz_tracer *t)
{
	const struct lz_chaos *c = &t->sched.chaos;

	if (lz_stream_offset(t) != c->seen_marker || t->next_event != c->seen_event)
		lz_chaos_seen(t);
	if (lz_program_time(t) - c->seen_time <= STUCK_MS * 1000000ULL)
		return false;
	t->cur->priority = 0; /* somebody else must do what it waits for */
	return true;
}
