/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handing the turn from one thread to another.
 *
 * All threads write one marker stream: whoever gets the turn gets the write pointer. Where code
 * keeps it in r15 it is set there, as after a signal handler; everybody else finds it in the
 * thread's __lizard_pos. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/run/run.h"
#include "tracer/state/state.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <lizard/error.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

/* Saves what the current thread will go on with. */
static int leave(struct lz_tracer *t, bool in_call)
{
	struct lz_thread *cur = t->cur;

	cur->sig.armed = false;
	if (cur->ended)
		return 0;
	cur->seen = true;
	if (in_call) {
		cur->in_call = true;
		cur->regs = cur->call.entry;
		return 0;
	}
	cur->ready = true;
	return lz_proc_regs(&t->p, &cur->regs) < 0 ? -1 : lz_thread_save_xstate(t);
}

static void begin_event(struct lz_tracer *t, const struct lz_thread *next, bool in_call)
{
	struct lz_thread *cur = t->cur;
	struct lz_event *e = &t->b.ev;
	bool behind = in_call || cur->ended;

	lz_build(t, LZ_EV_SWITCH, behind ? cur->call.ip : cur->regs.rip);
	e->next = next->tid;
	e->flags = (in_call ? LZ_EVF_IN_CALL : 0) | (cur->sig.spin ? LZ_EVF_SPIN : 0);
	cur->sig.spin = false;
	if (!behind)
		lz_build_instant(t, cur);
	if (in_call) {
		e->nr = cur->call.nr;
		memcpy(e->args, cur->call.args, sizeof(e->args));
	}
}

/* The pointer is the current thread's. */
static int take_pointer(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	struct lz_stream *s = &t->s;
	uint64_t now = s->base + s->parsed;
	struct user_regs_struct r;

	/* it stands where it has been left */
	if (cur->parked)
		r = cur->call.entry;
	else if (lz_proc_regs(&t->p, &r) < 0)
		return -1;
	s->pos_addr = r.fs_base + s->pos_off;
	/* A thread without thread-local storage has none. */
	if (lz_proc_write(&t->p, s->pos_addr, &now, sizeof(now)) == 0 &&
	    lz_build_write(t, s->pos_addr, &now, sizeof(now)) < 0)
		return -1;
	if (!lz_stream_has(t, r.r15) || r.r15 == now)
		return 0;
	r.r15 = cur->regs.r15 = cur->call.entry.r15 = cur->at.r15 = now;
	return lz_proc_set_regs(&t->p, &r);
}

/* A mutex whose owner has ended belongs to who waits for it; the kernel stores that only when
 * the waiter runs in it. */
static void await_owner(struct lz_tracer *t, struct lz_thread *waiter, const struct lz_thread *old)
{
	enum { MAX_MS = 200 };
	uint64_t at = waiter->call.args[0], since = lz_now();
	uint32_t word;

	while (
	    lz_proc_read_some(&t->p, at, &word, sizeof(word)) == sizeof(word) &&
	    (!(word & FUTEX_TID_MASK) || (old->ended && (word & FUTEX_TID_MASK) == old->own_tid)) &&
	    lz_thread_state_of(t, waiter) != 't' && lz_now() - since < MAX_MS * 1000000ULL)
		sched_yield();
}

/* The kernel puts a waiter's mark, and later its id, into a priority-inheriting mutex's word. */
static int pi_words(struct lz_tracer *t, const struct lz_thread *old)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];
		uint64_t at = th->call.args[0];

		if (!th->in_call || th->call.nr != SYS_futex)
			continue;
		switch ((int)th->call.args[1] & FUTEX_CMD_MASK) {
		case FUTEX_WAIT_REQUEUE_PI: at = th->call.args[4]; break;
		case FUTEX_LOCK_PI:
		case FUTEX_LOCK_PI2:
			if (!th->ready)
				await_owner(t, th, old);
			break;
		default: continue;
		}
		if (lz_build_read(t, at, 4) < 0)
			return -1;
	}
	return 0;
}

static int enter(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;

	if (t->s.mem && take_pointer(t) < 0)
		return -1;
	t->b.ev.has_regs = true;
	t->b.ev.regs = cur->regs;
	t->b.ev.regs.orig_rax = (uint64_t)-1;
	if (!cur->seen) {
		t->b.ev.xstate = cur->xstate;
		t->b.ev.xstate_len = cur->xstate_len;
	}
	return 0;
}

int lz_switch(struct lz_tracer *t, struct lz_thread *next, bool in_call)
{
	struct lz_thread *old = t->cur;
	struct user_regs_struct r;

	const int stands = lz_standby_end(t, next);
	if (!stands && t->sched.dying)
		return lz_fail("thread %u has been killed", next->tid);
	if (stands <= 0)
		return stands ? -1 : lz_fast_broken("a turn");
	if (lz_shared_lock_enter(t) < 0 || leave(t, in_call) < 0)
		return -1;
	begin_event(t, next, in_call);
	lz_become(t, next);
	if (enter(t) < 0 || pi_words(t, old) < 0 || (t->shared_lock.news && lz_shared_sync(t) < 0))
		return -1;
	if (old->ended && lz_thread_end_writes(t, old) < 0)
		return -1;
	if (lz_build_commit(t) < 0)
		return -1;
	lz_shared_unsettle(t);
	if (old->ended)
		lz_thread_remove(t, old);
	next->ready = next->halted = false;
	if (lz_sched_turn(t) < 0)
		return -1;
	if (next->in_call) {
		next->in_call = false;
		next->call.regained = true;
		return 0;
	}
	if (lz_proc_regs(&t->p, &r) < 0 || lz_instant_here(t, &r) < 0)
		return -1;
	/* by chance its turn is short, and begins to end here */
	t->sched.point = t->sched.chaos.on && t->sched.chaos.over && !next->has_pending_status &&
	                 !next->call.suspended;
	return 0;
}
