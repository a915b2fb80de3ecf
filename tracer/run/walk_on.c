/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A turn by chance that ends between two points: the program is stepped from a point on, also in code
 * without markers, so it is known what arrivals there have been. */
#include "tracer/calls/fast.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/run/run.h"
#include "tracer/signals/signals.h"
#include "tracer/turns/turns.h"

#include <common/process/state_sum.h>
#include <errno.h>
#include <lizard/error.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { MOST = 512 };
#define TRAP_BIT (1ULL << (SIGTRAP - 1))

struct walk {
	struct user_regs_struct r;
	/* The gap, and the states of its arrivals so far. */
	uint64_t marker, state[MOST];
	size_t n;
	bool named;  /* no arrival before had the present state */
	bool locked; /* the last step was of an instruction that locks */
	bool behind_call;
};

/* ---- instructions ---- */

enum kind { PLAIN, LOCKS, NOT_STEPPED };

/* It would be made without us, or tells the program that it is stepped. */
static bool is_call_or_flags(const uint8_t *code)
{
	return (code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34)) || /* syscall, sysenter */
	       code[0] == 0xcd || code[0] == 0xcc ||                        /* int, int3 */
	       code[0] == 0x9c || (code[0] == 0x66 && code[1] == 0x9c);     /* pushf */
}

/* A lock prefix, or an xchg with memory. */
static bool locks(const uint8_t *code, size_t n)
{
	size_t i = 0;

	while (i < n && (code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x64))
		i++;
	if (i < n && code[i] == 0xf0)
		return true;
	if (i < n && (code[i] & 0xf0) == 0x40)
		i++;
	return i + 1 < n && (code[i] & 0xfe) == 0x86 && code[i + 1] >> 6 != 3;
}

static enum kind kind_at(const struct lz_tracer *t, uint64_t at)
{
	uint8_t code[8] = {0};
	size_t n = lz_proc_read_some(&t->p, at, code, sizeof(code));

	/* behind a call that has become a jump */
	lz_sites_show_some(&t->fast.sites, at, code, n);
	if (n < 2 || is_call_or_flags(code) || lz_site_at(&t->fast.sites, at))
		return NOT_STEPPED;
	return locks(code, n) ? LOCKS : PLAIN;
}

/* ---- one step ---- */

/* A signal other than the step's own trap. 0: it is held, or will be met again. */
static int met(struct lz_tracer *t, int status)
{
	const int signo = WSTOPSIG(status);
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0)
		return errno == ESRCH ? 0 : lz_fail_errno("cannot read a signal of the program");
	if (signo == SIGTRAP && info.si_code == TRAP_TRACE)
		return 1;
	if (signo == SIGTRAP && t->cur->sig.blocked & TRAP_BIT &&
	    !lz_signal_synchronous(signo, &info))
		return lz_signal_put_back(t, signo);
	if (!lz_signal_synchronous(signo, &info) && !lz_signal_unseen(t, signo)) {
		lz_signal_find_sent(t, signo, &info);
		return lz_signal_keep(t, signo, &info);
	}
	t->cur->pending_status = status;
	t->cur->has_pending_status = true;
	return 0;
}

/* Asked for before the walk began: it is at its point by now. */
static bool is_interrupt(struct lz_tracer *t, int status)
{
	const bool is =
	    WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;

	if (is)
		t->cur->sig.interrupted = false;
	return is;
}

/* 1: one instruction; 0: none. */
static int step_once(struct lz_tracer *t, struct walk *w)
{
	int status, done;

	do {
		if (ptrace(PTRACE_SINGLESTEP, t->p.pid, 0, 0) < 0 && errno != ESRCH)
			return lz_fail_errno("cannot step the program");
		if (lz_proc_wait(t->p.pid, &status) < 0)
			return -1;
	} while (is_interrupt(t, status));
	if (!WIFSTOPPED(status) || status >> 16) {
		t->cur->pending_status = status;
		t->cur->has_pending_status = true;
		return 0;
	}
	done = met(t, status);
	return done < 0 || lz_proc_regs(&t->p, &w->r) < 0 ? -1 : done;
}

/* The jump at the end of a detour is none of the program's. */
static int step(struct lz_tracer *t, struct walk *w)
{
	const struct user_regs_struct before = w->r;
	const int done = step_once(t, w);
	const bool same =
	    w->r.rip == before.rip && w->r.rsp == before.rsp && w->r.rcx == before.rcx;

	return done == 1 && same ? step_once(t, w) : done;
}

/* ---- where it stands ---- */

static bool was_here(const struct walk *w, uint64_t state)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->state[i] == state)
			return true;
	return false;
}

/* In front of a call no turn ends: whether the call has become a jump by then is a matter of time.
 * False: nothing more can be told. */
static bool look(struct lz_tracer *t, struct walk *w)
{
	const uint64_t marker = lz_stream_offset(t), state = lz_state_sum(&t->p, &w->r);

	if (marker != w->marker)
		w->n = 0;
	w->marker = marker;
	w->named = w->n < MOST && !was_here(w, state) && lz_may_end_at(t, &w->r) &&
	           kind_at(t, w->r.rip) != NOT_STEPPED;
	if (w->n == MOST)
		return false;
	w->state[w->n++] = state;
	return true;
}

/* Has the last step, from BEFORE, been a call? Then *to is where that returns to. */
static bool has_called(const struct lz_tracer *t, const struct walk *w,
                       const struct user_regs_struct *before, uint64_t *to)
{
	enum { LONGEST = 15 };

	return w->r.rsp == before->rsp - 8 && lz_proc_read_some(&t->p, w->r.rsp, to, 8) == 8 &&
	       *to - before->rip - 1 < LONGEST && w->r.rip != *to;
}

/* ---- the walk ---- */

/* Up to the next call in code with markers. 1: it is under way; 0: none is near. */
static int walk_to_call(struct lz_tracer *t, struct walk *w)
{
	enum { NEAR = 64 };

	w->named = false;
	for (int i = 0; i < NEAR; i++) {
		const struct user_regs_struct before = w->r;
		uint64_t to;
		int done = kind_at(t, w->r.rip) == NOT_STEPPED ? 0 : step(t, w);

		if (done <= 0)
			return done;
		if (has_called(t, w, &before, &to) && lz_marked_once(t, to))
			return lz_chaos_over_call(t, to, before.rsp) < 0 ? -1 : 1;
	}
	return 0;
}

/* From behind that call on: in code with markers the instant needs no arrivals for its name. */
static int walk_behind_call(struct lz_tracer *t, struct walk *w)
{
	bool there = false;

	w->n = 0;
	for (uint32_t left = t->sched.chaos.steps, most = MOST; most && (left || !there);
	     left -= left > 0, most--) {
		int done = kind_at(t, w->r.rip) == NOT_STEPPED ? 0 : step(t, w);

		if (done <= 0)
			return done;
		there = lz_marked_once(t, w->r.rip) && lz_may_end_at(t, &w->r) &&
		        kind_at(t, w->r.rip) != NOT_STEPPED;
	}
	if (!there)
		return 0;
	w->named = true;
	w->state[w->n++] = lz_state_sum(&t->p, &w->r);
	return 0;
}

/* In a repeated string instruction each round is a step. */
static int walk(struct lz_tracer *t, struct walk *w)
{
	struct lz_chaos *c = &t->sched.chaos;

	for (uint32_t left = c->steps; left || !w->named; left -= left > 0) {
		const enum kind kind = kind_at(t, w->r.rip);
		int done = kind == NOT_STEPPED ? 0 : step(t, w);

		if (done <= 0)
			return done;
		if (!look(t, w))
			return 0;
		if (c->to_lock && kind == LOCKS && !w->locked)
			left = left % 4 + 1;
		w->locked |= kind == LOCKS;
	}
	return 0;
}

static void count(struct lz_chaos *c, const struct walk *w)
{
	if (w->behind_call) {
		c->n_calls++;
		return;
	}
	c->n_points += w->n < 2;
	c->n_locks += w->n > 1 && c->to_lock && w->locked;
	c->n_steps += w->n > 1 && !(c->to_lock && w->locked);
}

/* Signals that came meanwhile are delivered here, or where there is an instant. */
static int release(struct lz_tracer *t, bool named)
{
	if (!t->cur->sig.n_held)
		return named;
	if (named)
		return lz_signal_release(t) < 0 ? -1 : 0;
	return lz_signal_arm(t) < 0 ? -1 : 0;
}

/* Only from where a gap begins are all arrivals in it known. Behind a call that was interrupted the
 * kernel may hold a signal mask. */
static bool may_begin(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_thread *th = t->cur;

	return t->sched.chaos.steps && !th->sig.spin && !th->at_midway &&
	       !lz_signal_ignored(t, SIGTRAP) && lz_proc_regs(&t->p, r) == 0 &&
	       (int64_t)r->rax != -EINTR;
}

/* The trap of a step is not to take a blocked SIGTRAP back to its default. */
static int block(struct lz_tracer *t, uint64_t signals)
{
	if (!(t->cur->sig.blocked & TRAP_BIT))
		return 0;
	if (ptrace(PTRACE_SETSIGMASK, t->p.pid, sizeof(signals), &signals) < 0 && errno != ESRCH)
		return lz_fail_errno("cannot set the program's signal mask");
	return 0;
}

/* Not on its way out. */
static bool stands(const struct lz_thread *th)
{
	return !th->has_pending_status ||
	       (WIFSTOPPED(th->pending_status) && th->pending_status >> 16 != PTRACE_EVENT_EXIT);
}

/* The turn ends here, or as soon as it can. */
static int arrive(struct lz_tracer *t, struct walk *w)
{
	const bool here = w->named && !t->cur->has_pending_status;

	if (!here && lz_chaos_soon(t) < 0)
		return -1;
	if (t->cur->has_pending_status)
		return 0;
	if (here && (w->n > 1 || w->behind_call) &&
	    lz_instant_counted(t, &w->r, w->state[w->n - 1]) < 0)
		return -1;
	if (here)
		count(&t->sched.chaos, w);
	return release(t, here);
}

/* 1: it goes on over a call. */
static int any_walk(struct lz_tracer *t, struct walk *w)
{
	struct lz_chaos *c = &t->sched.chaos;

	if (w->behind_call && c->over_calls == 0)
		return walk_behind_call(t, w);
	if (c->steps && c->over_calls) {
		c->over_calls--;
		return walk_to_call(t, w);
	}
	w->named = true;
	w->state[w->n++] = lz_state_sum(&t->p, &w->r);
	return walk(t, w);
}

static bool is_behind_call(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct lz_chaos *c = &t->sched.chaos;

	return c->return_at && r->rip == c->return_at && r->rsp == c->return_sp;
}

int lz_walk_on(struct lz_tracer *t)
{
	struct lz_chaos *c = &t->sched.chaos;
	struct walk w = {.marker = lz_stream_offset(t)};

	if (!c->on)
		return 1;
	w.behind_call = c->return_at && lz_proc_regs(&t->p, &w.r) == 0 && is_behind_call(t, &w.r);
	if (!w.behind_call && !may_begin(t, &w.r)) {
		c->steps = 0;
		c->n_points++;
		return 1;
	}
	if (((t->cur->watched || t->cur->returns) && lz_chaos_unwatch(t) < 0) ||
	    block(t, t->cur->sig.blocked & ~TRAP_BIT) < 0)
		return -1;
	int over_call = any_walk(t, &w);
	if (over_call < 0)
		return -1;
	if (!over_call)
		c->steps = 0;
	lz_chaos_seen(t);
	if (!stands(t->cur))
		return 0;
	if (block(t, t->cur->sig.blocked) < 0)
		return -1;
	return over_call ? release(t, false) : arrive(t, &w);
}
