/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting, when there is more than one thread: for the one that has the turn, which runs, and
 * for those that the kernel holds in a call. Those stop when it lets them go, before they can
 * run, and wait for their turn. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/run/run.h"
#include "tracer/signals/signals.h"
#include "tracer/state/state.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <lizard/error.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { ASLEEP = 2, AWAKE = 3 };

/* A futex's word says whether the call will sleep. Should another thread change it before the
 * kernel looks, that is what may happen without us, too. */
static bool will_sleep(const struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;
	int op = (int)c->args[1] & FUTEX_CMD_MASK;
	uint32_t word;

	return c->nr == SYS_futex && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) &&
	       lz_proc_read_some(&t->p, c->args[0], &word, 4) == 4 && word == (uint32_t)c->args[2];
}

/* It comes out of its call before anybody else is looked at: a clone's child would be met before
 * its parent says whose it is. Unless it is killed in there. */
static bool first_of_all(const struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	return c->inside && !t->cur->ended && !t->sched.dying && !lz_call_waits(c) &&
	       !lz_call_has_class(c, LZ_SC_EXIT) && !lz_call_has_class(c, LZ_SC_EXEC);
}

/* ---- threads without the turn ---- */

static int go_on(struct lz_thread *th, int request, int sig)
{
	if (th->call.stepped && request == PTRACE_SYSCALL)
		request = PTRACE_SINGLESTEP;
	if (ptrace(request, (pid_t)th->tid, 0, sig) < 0 && errno != ESRCH)
		return lz_fail_errno("cannot resume thread %u", th->tid);
	th->running = true;
	return 0;
}

static int is_ready(struct lz_thread *th, int status)
{
	th->ready = th->has_pending_status = true;
	th->pending_status = status;
	th->halted = false;
	return 0;
}

/* The call is over, or it is to be made again: to its user that is still the same call. */
static int aside_call(struct lz_tracer *t, struct lz_thread *th, int status)
{
	struct lz_call *c = &th->call;
	struct user_regs_struct r;

	if (lz_proc_regs(&t->p, &r) < 0)
		return 0; /* killed */
	if (c->inside && (lz_call_wait_on(t, &r) < 0 || (c->part && lz_call_lengthen(t, &r) < 0)))
		return -1;
	if (c->inside && lz_restarts((int64_t)r.rax)) {
		if (lz_call_lengthen(t, &r) < 0)
			return -1;
		/* its instruction may have become a jump meanwhile */
		if (lz_site_behind(&t->fast.sites, r.rip) && lz_proc_set_regs(&t->p, &r) < 0)
			return -1;
		c->inside = false;
		c->suspended = true;
		return lz_instant_here(t, &r) < 0 ? -1 : go_on(th, PTRACE_SYSCALL, 0);
	}
	if (c->suspended && lz_call_same(c, &r)) {
		c->inside = true;
		c->suspended = false;
		return go_on(th, PTRACE_SYSCALL, 0);
	}
	return is_ready(th, status);
}

/* A fault is where it is. */
static int not_again(struct lz_tracer *t, int signo)
{
	struct user_regs_struct r;
	siginfo_t info;

	if (!t->cur->call.suspended || lz_proc_regs(&t->p, &r) < 0 ||
	    ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0 ||
	    lz_signal_synchronous(signo, &info))
		return 0;
	return lz_call_not_again(t, &r);
}

static int aside_stopped(struct lz_tracer *t, struct lz_thread *th, int status)
{
	int signo = WSTOPSIG(status);

	switch (status >> 16) {
	case 0: break;
	case PTRACE_EVENT_EXIT:
		th->ready = false;
		if (!lz_call_has_class(&t->cur->call, LZ_SC_EXEC))
			t->sched.dying = true;
		return go_on(th, PTRACE_CONT, 0);
	case PTRACE_EVENT_STOP:
		if (signo == SIGTRAP && th->halted) {
			th->halted = false;
			th->ready = true;
			return 0;
		}
		return go_on(th, signo == SIGTRAP ? PTRACE_SYSCALL : PTRACE_LISTEN, 0);
	default: return go_on(th, PTRACE_SYSCALL, 0);
	}
	if (signo == (SIGTRAP | 0x80))
		return aside_call(t, th, status);
	int deliver, passes = lz_signal_passes(t, signo, &deliver);
	if (passes < 0)
		return -1;
	if (passes)
		return go_on(th, PTRACE_SYSCALL, deliver);
	return not_again(t, signo) < 0 ? -1 : is_ready(th, status);
}

static int aside(struct lz_tracer *t, pid_t tid, int status)
{
	struct lz_thread *th = lz_thread_find(t, tid), *cur = t->cur;

	if (!th)
		return 0;
	if (!WIFSTOPPED(status)) {
		if (!lz_call_has_class(&cur->call, LZ_SC_EXEC))
			t->sched.dying = true;
		lz_standby_gone(t, th);
		lz_thread_remove(t, th);
		return 0;
	}
	th->running = false;
	if (status >> 16 == PTRACE_EVENT_EXIT)
		lz_standby_gone(t, th);
	lz_become(t, th);
	int ret = th->standby ? lz_standby_stopped(t, status) : lz_step_stopped(t, &status);
	if (ret == 0)
		ret = aside_stopped(t, th, status);
	lz_become(t, cur);
	return ret < 0 ? -1 : 0;
}

/* Who was to have the turn when it stopped may not have got it. */
static int aside_again(struct lz_tracer *t)
{
	for (size_t i = 0; t->fast.n_standby && i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];

		if (!th->standby || th->running || !th->has_pending_status)
			continue;
		th->has_pending_status = false;
		if (aside(t, (pid_t)th->tid, th->pending_status) < 0)
			return -1;
	}
	return 0;
}

/* It goes on to the stop that the kernel keeps for it, and stands again behind that. Of what it
 * has been met at, a call is over all the same, and a signal comes again. */
static int halt(struct lz_tracer *t, struct lz_thread *th)
{
	int status = th->has_pending_status ? th->pending_status : 0;

	if (status && status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80)) {
		if (lz_signal_put_back(t, WSTOPSIG(status)) < 0)
			return -1;
		th->has_pending_status = false;
	}
	th->halted = true;
	th->ready = false;
	return go_on(th, PTRACE_SYSCALL, 0);
}

int lz_turn_halt(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	int ret = lz_wait_others_really(t, 0);

	for (size_t i = 0; i < t->n_threads && ret == 0; i++) {
		struct lz_thread *th = t->thread[i];
		const int stands = th->ready && th != cur ? lz_standby_end(t, th) : 0;

		lz_become(t, th);
		ret = stands > 0 ? halt(t, th) : stands;
	}
	lz_become(t, cur);
	return ret;
}

/* ---- waiting ---- */

/* The first thread's id is now the current one's, which has called execve. */
static void took_over(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur, *first = lz_thread_find(t, (pid_t)t->tid);

	if (first)
		lz_thread_remove(t, first);
	cur->old_tid = cur->tid;
	cur->tid = t->tid;
	cur->own_tid = t->own_tid;
	lz_become(t, cur);
}

/* 1: a stop of the current thread, or the process's end; 0: something else, or nothing. */
static int one_stop(struct lz_tracer *t, int flags, int *status)
{
	struct lz_thread *cur = t->cur;
	bool first = first_of_all(t);
	pid_t got = lz_full_waitpid(t, first ? (pid_t)cur->tid : -1, status, __WALL | flags);

	if (got < 0 && errno == EINTR) {
		t->sched.dying |= first && lz_proc_has_ended((pid_t)cur->tid);
		return lz_tick(t);
	}
	if (got < 0)
		return lz_fail_errno("cannot wait for the program");
	if (got == 0)
		return 0;
	t->fast.n_stops++;
	if (lz_hand_sync(t) < 0)
		return -1;
	cur = t->cur;
	if (got == (pid_t)t->tid && !WIFSTOPPED(*status))
		return 1;
	if (got == (pid_t)t->tid && *status >> 16 == PTRACE_EVENT_EXEC && cur->tid != t->tid)
		took_over(t);
	if (got != (pid_t)t->cur->tid)
		return aside(t, got, *status);
	if (WIFSTOPPED(*status))
		return 1;
	cur->ended = t->sched.dying = true;
	return 0;
}

/* In an uninterruptible wait a call is for the disk, or for a page that it copies to: it will be
 * over without anybody's help, and may be in the middle of its output. Not so with a file system
 * that the program itself provides. */
static bool held_briefly(struct lz_call *c)
{
	enum { HELD_MS = 1000 };
	uint64_t now = lz_now();

	if (!c->held_since)
		c->held_since = now;
	return now - c->held_since < HELD_MS * 1000000ULL;
}

/* The current thread is in a call that may wait. Tracer and program share a CPU: when the tracer
 * runs again, the call is over or asleep, or else it takes long. */
static int watch(struct lz_tracer *t, int *status)
{
	enum { TRIES = 100 };

	for (int i = 0; i < TRIES; i++) {
		sched_yield();
		int got = one_stop(t, WNOHANG, status);
		if (got)
			return got;
		char state = lz_thread_state_of(t, t->cur);
		if (state == 'S' || (state == 'D' && !held_briefly(&t->cur->call)))
			return ASLEEP;
	}
	return 0;
}

/* Is anybody on the way from a call that is over to its stop? */
static bool unsettled(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];
		char state = th->in_call && !th->ready ? lz_thread_state_of(t, th) : 'S';

		if (state == 'R' || state == 't')
			return true;
	}
	return false;
}

/* With chaos, at a stop of the current thread: whoever the kernel has let go stands, or sleeps
 * again. */
static int settle(struct lz_tracer *t)
{
	enum { TRIES = 1000 };
	int status, got;

	for (int i = 0; i < TRIES && unsettled(t); i++) {
		sched_yield();
		got = one_stop(t, WNOHANG, &status);
		if (got < 0)
			return -1;
		if (got) { /* killed */
			t->cur->running = false;
			t->cur->pending_status = status;
			t->cur->has_pending_status = true;
			return 0;
		}
	}
	return 0;
}

/* What is in memory before the call writes there. It may have been over meanwhile: then that is not
 * known. 1; 0: it is over, or may be. */
static int take_output(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;

	if (cur->blocked.n)
		return 1;
	if (lz_shared_lock_enter(t) < 0 || lz_blocked_take(t) < 0)
		return -1;
	char state = cur->blocked.n ? lz_thread_state_of(t, cur) : 'S';
	if (state == 'S' || state == 'D')
		return 1;
	lz_blocked_drop(cur);
	return 0;
}

/* The current thread sleeps in a call, or has ended. 0: nobody else can run; AWAKE. */
static int hand_over(struct lz_tracer *t, bool in_call)
{
	if (t->sched.chaos.on && settle(t) < 0)
		return -1;
	if (t->cur->has_pending_status || !lz_sched_ready(t))
		return 0;
	int asleep = in_call ? take_output(t) : 1;
	if (asleep <= 0)
		return asleep ? -1 : AWAKE;
	return lz_switch(t, lz_sched_next(t), in_call) < 0 ? -1 : 1;
}

/* The current thread stands in front of its call, as long as somebody else can run. */
static int hand_over_parked(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	int over = hand_over(t, true);

	if (over == 1 && lz_standby_begin(t, cur) < 0)
		return -1;
	if (over || t->cur->has_pending_status)
		return over;
	over = lz_wait_really(t);
	return over ? over >> 1 : go_on(t->cur, PTRACE_SYSCALL, 0);
}

int lz_turn_wait(struct lz_tracer *t, int *status)
{
	for (;;) {
		if (lz_hand_sync(t) < 0 || aside_again(t) < 0)
			return -1;
		struct lz_thread *cur = t->cur;
		int parked = cur->parked ? hand_over_parked(t) : 0;
		if (parked)
			return parked;
		bool ready = lz_sched_ready(t), waits = !cur->ended && lz_call_waits(&cur->call);
		int got = 0, over = 0;

		if (waits && (ready || lz_wait_any(t)))
			got = !t->sched.chaos.on && will_sleep(t) ? ASLEEP : watch(t, status);
		else if (t->shared_lock.held && lz_call_may_sleep(&cur->call))
			got = watch(t, status);
		if ((got == ASLEEP && waits) || (ready && cur->ended))
			over = hand_over(t, !cur->ended);
		if (over == AWAKE)
			continue;
		if (over)
			return over;
		if (cur->has_pending_status) {
			cur->has_pending_status = false;
			*status = cur->pending_status;
			return 0;
		}
		if (got == ASLEEP || !got) {
			if (cur->ended || lz_call_may_sleep(&cur->call))
				lz_shared_lock_leave(t);
			if ((cur->ended || got == ASLEEP) && lz_wait_others_really(t, 0) < 0)
				return -1;
			lz_fast_end_wait(t);
			got = one_stop(t, 0, status);
		}
		if (got)
			return got < 0 ? -1 : 0;
	}
}

int lz_turn_at_point(struct lz_tracer *t)
{
	t->sched.point = false;
	if (t->sched.chaos.on && t->n_threads > 1 && settle(t) < 0)
		return -1;
	/* signals that are held come first: nobody would release them when the thread comes back */
	if (!t->cur->has_pending_status && !t->cur->sig.n_held && lz_sched_due(t)) {
		int there = lz_walk_on(t);

		if (there <= 0)
			return there;
		if (t->sched.chaos.on && settle(t) < 0)
			return -1;
		if (!t->cur->has_pending_status)
			return lz_switch(t, lz_sched_next(t), false);
	}
	if (!t->cur->has_pending_status && lz_shared_lock_due(t, 0))
		return lz_shared_lock_yield(t);
	t->sched.yielded = false;
	t->cur->sig.spin &= t->cur->sig.stop_due;
	return 0;
}
