/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that hand the turn to each other without a stop.
 *
 * One that has parked (fast_wait.c) goes on standby: it waits in the stub. Another one that begins to wait
 * for a futex goes on standby by itself there, if one of these has been woken, and gives that the turn
 * (stub/hand.c). Its log has the switch, which becomes the events that it would have had with a stop.
 *
 * Who is the current thread is known when the log has been looked at: lz_hand_sync(). A thread on standby
 * can be taken out of it at any time, and stands then where it has parked. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/signals/signals.h"
#include "tracer/state/state.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <lizard/error.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ALLOW = 0,
	BLOCK = 1,
	EFLAGS_PLAIN = 0x202,
	/* What a hand-over is worth, and what it costs that somebody is taken out of standby. */
	WORTH_MOST = 16,
	COST = 4,
	COST_MOST = 64,
	LONG_TICKS = 500 /* a turn that is about to come */
};

static struct lz_futex_wait *place_of(const struct lz_tracer *t, const struct lz_thread *th)
{
	return &t->fast.page->parked[th->parked - 1];
}

static struct lz_thread *parked_in(const struct lz_tracer *t, uint32_t place)
{
	for (size_t i = 0; i < t->n_threads; i++)
		if (t->thread[i]->parked == place + 1)
			return t->thread[i];
	return NULL;
}

static uint64_t in_code(const struct lz_tracer *t, const uint8_t *label)
{
	return t->fast.at + (uintptr_t)label - (uintptr_t)__start_lz_stub;
}

/* ---- may it be? ---- */

/* The kernel stores in such a mutex's word at any time: lz_switch() looks. */
static bool waits_for_pi(const struct lz_thread *th)
{
	switch ((int)th->call.args[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2: return th->in_call && th->call.nr == SYS_futex;
	default: return false;
	}
}

bool lz_hand_may(const struct lz_tracer *t)
{
	if (!t->fast.n_standby || t->fast.ended || t->sched.chaos.on || !lz_segments_readable())
		return false;
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct lz_thread *th = t->thread[i];

		/* the one that stands would wait for its turn for ever */
		if ((th->ready && !th->standby) || th->filter || th->strict || waits_for_pi(th))
			return false;
		/* an rdtsc of its would not trap, and be unknown: when it goes on with a stop it will */
		if (th->standby && th->counter_open && !t->fast.clock.function)
			return false;
	}
	return true;
}

/* ---- to standby ---- */

static bool is_worth_it(struct lz_thread *th)
{
	if (th->worth >= 0)
		return true;
	th->worth++;
	return false;
}

static struct lz_stub_saved saved(const struct user_regs_struct *r)
{
	return (struct lz_stub_saved){.r15 = r->r15,
	                              .r14 = r->r14,
	                              .r13 = r->r13,
	                              .r12 = r->r12,
	                              .rbp = r->rbp,
	                              .rbx = r->rbx,
	                              .rax = r->orig_rax,
	                              .rdi = r->rdi,
	                              .rsi = r->rsi,
	                              .rdx = r->rdx,
	                              .r10 = r->r10,
	                              .r8 = r->r8,
	                              .r9 = r->r9,
	                              .eflags = r->eflags};
}

/* Into the stub, raw: what the program is shown of a thread there is not asked for. */
static int go_there(const struct lz_tracer *t, const struct lz_thread *th)
{
	struct user_regs_struct r = th->call.entry;
	const uint32_t place = th->parked - 1;

	r.rbx = t->fast.at + LZ_STUB_CODE + offsetof(struct lz_call_page, parked[place].state);
	r.r13 = place;
	r.rip = in_code(t, lz_stub_standby);
	r.rax = 0;
	r.orig_rax = (uint64_t)-1;
	r.eflags = EFLAGS_PLAIN;
	if ((ptrace(PTRACE_SETREGS, (pid_t)th->tid, 0, &r) < 0 ||
	     ptrace(PTRACE_CONT, (pid_t)th->tid, 0, 0) < 0) &&
	    errno != ESRCH)
		return lz_fail_errno("cannot resume thread %u", th->tid);
	return 0;
}

int lz_standby_begin(struct lz_tracer *t, struct lz_thread *th)
{
	struct lz_call_page *p = t->fast.page;
	const struct user_regs_struct *r = &th->call.entry;
	const struct lz_site *x = lz_site_behind(&t->fast.sites, r->rip);

	if (!th->parked || !x || x->given_back || x->faults || t->fast.ended || !th->dispatched ||
	    th->filter || th->strict || !lz_segments_readable() || !is_worth_it(th))
		return 0;
	p->standby[th->parked - 1] =
	    (struct lz_standby){.regs = saved(r),
	                        .site = r->rip,
	                        .back = x->call + LZ_CALL_INSN,
	                        .rsp = r->rsp,
	                        .pos_addr = t->s.mem ? r->fs_base + t->s.pos_off : 0,
	                        .open = th->counter_open};
	__atomic_fetch_or(&place_of(t, th)->state, LZ_STANDBY, __ATOMIC_SEQ_CST);
	p->selector[th->slot] = BLOCK;
	th->standby = th->running = th->fast = true;
	t->fast.n_standby++;
	p->may_hand = lz_hand_may(t);
	return go_there(t, th);
}

/* ---- out of it ---- */

static void set_out(struct lz_tracer *t, struct lz_thread *th)
{
	t->fast.n_standby -= th->standby;
	th->standby = th->fast = false;
	th->next_since = 0;
	t->fast.page->selector[th->slot] = ALLOW;
}

void lz_standby_gone(struct lz_tracer *t, struct lz_thread *th)
{
	if (!t->fast.page || !th->parked)
		return;
	set_out(t, th);
	place_of(t, th)->at = 0;
	th->parked = 0;
}

/* Nobody gives it the turn from here on. */
static bool withdraw(struct lz_tracer *t, struct lz_thread *th)
{
	struct lz_futex_wait *w = place_of(t, th);
	uint32_t was = __atomic_load_n(&w->state, __ATOMIC_SEQ_CST);

	do
		if (was & (LZ_NEXT | LZ_TURN))
			return false;
	while (!__atomic_compare_exchange_n(&w->state, &was, was & ~(uint32_t)LZ_STANDBY, false,
	                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return true;
}

/* A thread that has just handed its turn over stands, maybe before it has told the other one so. That is
 * done here, and not by itself once more: by then the other one's place may be somebody else's. */
static void tell_next(struct lz_tracer *t, const struct lz_thread *th)
{
	struct lz_call_page *p = t->fast.page;
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, (pid_t)th->tid, 0, &r) < 0 ||
	    r.rip < in_code(t, lz_stub_handed) || r.rip >= in_code(t, lz_stub_standby))
		return;
	const uint32_t next = t->fast.last_next;
	const bool is_told = r.rip >= in_code(t, lz_stub_turned);
	r.rip = in_code(t, lz_stub_standby);
	if (ptrace(PTRACE_SETREGS, (pid_t)th->tid, 0, &r) < 0)
		return; /* killed */
	if (!is_told) {
		p->busy = 0;
		__atomic_fetch_or(&p->parked[next].state, LZ_TURN, __ATOMIC_SEQ_CST);
	}
	syscall(SYS_futex, &p->parked[next].state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* 0: it has ended, or is about to. */
static int halt(struct lz_tracer *t, struct lz_thread *th)
{
	struct lz_thread *cur = t->cur;
	int status;

	if (ptrace(PTRACE_INTERRUPT, (pid_t)th->tid, 0, 0) < 0 ||
	    lz_proc_wait((pid_t)th->tid, &status) < 0)
		return errno == ESRCH || errno == ECHILD
		           ? 0
		           : lz_fail_errno("cannot stop thread %u", th->tid);
	th->running = false;
	tell_next(t, th);
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXIT) {
		t->sched.dying = true;
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, (pid_t)th->tid, 0, 0);
		return 0;
	}
	/* the group stops: so does it once more when it goes on */
	if (status >> 16 && WSTOPSIG(status) != SIGTRAP)
		ptrace(PTRACE_INTERRUPT, (pid_t)th->tid, 0, 0);
	if (status >> 16)
		return 1;
	lz_become(t, th);
	const int ret = lz_signal_put_back(t, WSTOPSIG(status));
	lz_become(t, cur);
	return ret < 0 ? -1 : 1;
}

int lz_standby_end(struct lz_tracer *t, struct lz_thread *th)
{
	if (!th->standby)
		return 1;
	if (!withdraw(t, th))
		return 0;
	if (!th->running)
		tell_next(t, th);
	const int halted = th->running ? halt(t, th) : 1;
	if (halted <= 0) {
		lz_standby_gone(t, th);
		th->ready = false;
		return halted;
	}
	set_out(t, th);
	th->worth = th->worth - COST < -COST_MOST ? -COST_MOST : th->worth - COST;
	return 1;
}

/* Its call is over, but it does not know that yet. */
static int stopped_when_woken(struct lz_tracer *t, int status)
{
	struct lz_thread *cur = t->cur;
	const int signo = WSTOPSIG(status);

	cur->ready = cur->has_pending_status = false;
	if (!(status >> 16))
		return lz_signal_put_back(t, signo) < 0 ? -1 : 1;
	if (signo == SIGTRAP)
		return 1;
	/* the group stops: it stands again behind that */
	cur->halted = true;
	cur->running = ptrace(PTRACE_LISTEN, t->p.pid, 0, 0) == 0;
	return 1;
}

/* It may get the turn just now: then this is a stop of the current thread's. */
static int look_later(struct lz_tracer *t, struct lz_thread *th, int status)
{
	if (!th->next_since)
		th->next_since = t->fast.n_ticks + 1;
	th->ready = false;
	th->has_pending_status = true;
	th->pending_status = status;
	return t->fast.n_ticks > th->next_since + LONG_TICKS ? lz_fast_broken("a turn") : 1;
}

int lz_standby_stopped(struct lz_tracer *t, int status)
{
	struct lz_thread *cur = t->cur;

	tell_next(t, cur);
	if (!withdraw(t, cur))
		return look_later(t, cur, status);
	set_out(t, cur);
	cur->worth = 0;
	cur->sig.interrupted = false;
	if (!lz_wait_take(t, cur)) {
		const int ret = stopped_when_woken(t, status);

		lz_wait_look(t);
		return ret;
	}
	cur->has_pending_status = cur->ready = false;
	return lz_thread_save_xstate(t) < 0 || lz_wait_make_again(t) < 0 ? -1 : 0;
}

/* ---- hand-overs ---- */

int lz_hand_sync(struct lz_tracer *t)
{
	return t->fast.n_standby ? lz_fast_drain(t) : 0;
}

bool lz_hand_on_the_way(const struct lz_tracer *t)
{
	const uint32_t place = t->fast.last_next;
	const struct lz_futex_wait *w = &t->fast.page->parked[place];

	/* the stub sets the state back last but one, and the place last */
	return w->at && !parked_in(t, place) &&
	       __atomic_load_n(&w->state, __ATOMIC_SEQ_CST) & (LZ_NEXT | LZ_TURN);
}

void lz_hand_resume(struct lz_tracer *t)
{
	if (lz_hand_on_the_way(t))
		t->fast.page->standby[t->fast.last_next].open = t->cur->counter_open;
}

void lz_hand_undo(struct lz_tracer *t)
{
	struct lz_call_page *p = t->fast.page;

	for (uint32_t i = 0; i < LZ_PARKED; i++)
		if (parked_in(t, i))
			__atomic_fetch_and(&p->parked[i].state, ~(uint32_t)LZ_NEXT,
			                   __ATOMIC_SEQ_CST);
		else
			p->parked[i].at = p->parked[i].state = 0;
}

/* -1: it cannot have been so. */
static int check(const struct lz_tracer *t, const struct lz_call_record *r,
                 const struct lz_hand_entry *e)
{
	const struct lz_thread *cur = t->cur;
	const struct lz_thread *next = e->next < LZ_PARKED ? parked_in(t, e->next) : NULL;

	/* it is where it stands from here on */
	if (!lz_site_behind(&t->fast.sites, r->ip))
		return lz_fast_broken("a turn");
	if (r->flags || r->args[0] % 4 || !next || next == cur || !next->standby)
		return lz_fast_broken("a turn");
	return e->mine >= LZ_PARKED || parked_in(t, e->mine) || cur->parked || cur->call.inside ||
	               cur->call.suspended || !cur->dispatched
	           ? lz_fast_broken("a turn")
	           : 0;
}

/* The current thread is on standby in place PLACE. */
static void stand_by(struct lz_tracer *t, uint32_t place)
{
	struct lz_thread *cur = t->cur;

	cur->parked = place + 1;
	cur->parked_since = t->fast.n_ticks;
	cur->standby = cur->seen = cur->in_call = true;
	cur->at_valid = false;
	cur->regs = cur->call.entry;
	cur->worth += cur->worth < WORTH_MOST;
}

/* The current thread has the turn: what is known of its clock is what it has left there. */
static void take_turn(struct lz_tracer *t, bool giver_open)
{
	struct lz_thread *cur = t->cur;
	struct lz_fast_clock *c = &t->fast.clock;
	struct lz_thread *giver = lz_thread_find(t, (pid_t)c->tid);

	if (giver && giver_open && !giver->counter_open) {
		giver->counter_open = true;
		lz_counter_allow(true);
	}
	c->tid = cur->tid;
	c->was_open = cur->counter_open;
	cur->parked = 0;
	cur->next_since = 0;
	cur->standby = cur->ready = cur->in_call = cur->at_valid = false;
	if (cur->running)
		cur->has_pending_status = false;
}

static int log_switch(struct lz_tracer *t, const struct lz_call_record *r, uint64_t r15,
                      struct lz_thread *next)
{
	struct lz_stream *s = &t->s;

	t->b.ev.next = next->tid;
	t->b.ev.flags = LZ_EVF_IN_CALL | (t->cur->sig.spin ? LZ_EVF_SPIN : 0);
	t->b.ev.nr = r->nr;
	memcpy(t->b.ev.args, r->args, sizeof(r->args));
	t->cur->sig.spin = false;
	lz_become(t, next);
	s->pos_addr = next->regs.fs_base + s->pos_off;
	next->regs.r15 = next->call.entry.r15 = r15;
	if (s->mem && lz_build_write(t, s->pos_addr, &r->marker, sizeof(r->marker)) < 0)
		return -1;
	t->b.ev.has_regs = true;
	t->b.ev.regs = next->regs;
	t->b.ev.regs.orig_rax = (uint64_t)-1;
	return lz_build_commit(t);
}

/* The wait of the current thread's, which it has begun before its turn, is over. */
static int log_end(struct lz_tracer *t, uint64_t marker, uint64_t time)
{
	struct lz_call *c = &t->cur->call;

	lz_build_at(t, LZ_EV_SYSCALL, c->ip, marker, time);
	t->b.ev.nr = c->nr;
	memcpy(t->b.ev.args, c->args, sizeof(t->b.ev.args));
	c->inside = false;
	return lz_build_commit(t);
}

int lz_hand_logged(struct lz_tracer *t, const struct lz_call_record *r, const uint8_t *bytes,
                   uint32_t n, uint64_t time)
{
	struct lz_call_record call = *r;
	struct user_regs_struct regs;
	struct lz_hand_entry e;
	uint64_t marker;

	if (n != sizeof(e))
		return lz_fast_broken("a turn");
	memcpy(&e, bytes, sizeof(e));
	if (check(t, r, &e) < 0 || lz_fast_offset(t, r, &marker) < 0)
		return -1;
	struct lz_thread *next = parked_in(t, e.next);
	call.nr = SYS_futex;
	lz_fast_regs(&e.regs, r->ip, &regs);
	regs.rax = SYS_futex;
	lz_wait_enter(t, &regs);
	stand_by(t, e.mine);
	lz_build_at(t, LZ_EV_SWITCH, r->ip, marker, time);
	if (log_switch(t, &call, e.next_r15, next) < 0)
		return -1;
	t->fast.last_next = e.next;
	take_turn(t, e.open);
	return log_end(t, marker, time) < 0 || lz_sched_turn(t) < 0 ? -1 : 0;
}
