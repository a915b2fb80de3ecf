/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One resume of a re-executed process: debug registers, stops and what they mean.
 *
 * Debug registers: 0 stops at the marker or address that is the next goal, 1 at want_ip, 2 and 3
 * are the user's watchpoints. A data breakpoint on a marker's code byte in the buffer traps right
 * after the marker is written: exact, without skid. */
#include "replayer/engine/calls.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/randinsn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { FLAG_TF = 1 << 8, GOAL_SLOT = 0, IP_SLOT = 1, USER_SLOT = 2 };

/* ---- registers ---- */

const struct user_regs_struct *lz_engine_regs(struct lz_engine *e)
{
	if (e->regs.eflags & LZ_FLAG_RF) {
		e->regs.eflags &= ~(uint64_t)LZ_FLAG_RF;
		e->regs_dirty = true;
	}
	return &e->regs;
}

int lz_engine_flush(struct lz_engine *e)
{
	if (e->regs_dirty && lz_proc_set_regs(&e->proc, &e->regs) < 0)
		return -1;
	e->regs_dirty = false;
	return 0;
}

/* ---- debug registers ---- */

static int set_slot(struct lz_engine *e, int i, uint64_t addr, int len, int kind)
{
	struct lz_slot *s = &e->debug.set[i];

	if (s->kind == kind && (!kind || (s->addr == addr && s->len == len)))
		return 0;
	if (lz_proc_set_debug(&e->proc, i, addr, len ? len : 1, kind) < 0)
		return lz_fail_in("replay needs the hardware debug registers");
	*s = (struct lz_slot){addr, len, kind};
	return 0;
}

int lz_engine_stop_at(struct lz_engine *e, uint64_t addr)
{
	return set_slot(e, GOAL_SLOT, addr, 1, 'x');
}

/* Where the marker that ends at GOAL begins. */
static int goal_start(struct lz_engine *e, uint64_t goal)
{
	uint8_t *want = e->rp->want;
	size_t len = (size_t)(goal - e->marker), at = 0;

	if (e->goal.end == goal)
		return 0;
	if (len > LZ_BUFFER_SIZE || goal > e->rp->stream_len)
		return lz_fail("the marker stream does not reach %lu", (unsigned long)goal);
	int64_t n = lz_engine_recorded(e, e->marker, want, len);
	if (n < 0)
		return -1;
	e->goal.guessed = (size_t)n != len;
	if (e->goal.guessed) {
		e->goal.end = goal;
		e->goal.start = goal - 1;
		return 0;
	}
	for (unsigned size; (size = lz_marker_size(want[at])) && at + size < len;)
		at += size;
	if (at + lz_marker_size(want[at]) != len)
		return lz_fail("no marker ends at %lu", (unsigned long)goal);
	e->goal.end = goal;
	e->goal.start = e->marker + at;
	return 0;
}

/* The same code takes about the same CPU time in replay; generous, as machines and their clocks
 * differ. */
static void set_patience(struct lz_engine *e)
{
	/* at most a day of recorded time: a forged one would make replay wait for ever */
	enum { LEAST_MS = 5000, TIMES = 25, MOST_MS = 24 * 3600 * 1000 };
	const uint64_t last = lz_calls_last(e);
	const struct lz_event *ev =
	    last < lz_reader_n_events(e->rp->reader) ? lz_reader_event(e->rp->reader, last) : NULL;
	uint64_t end = ev ? ev->time_ns : lz_reader_meta(e->rp->reader)->duration_ns;
	uint64_t ms = end > e->time_ns ? (end - e->time_ns) / 1000000 : 0;

	e->next.patience_ms = LEAST_MS + (ms < MOST_MS ? ms : MOST_MS) * TIMES;
}

void lz_engine_peek_next(struct lz_engine *e)
{
	if (e->next.event == e->event && e->next.ip)
		return;
	const struct lz_end *end = &e->rp->end;
	e->next = (struct lz_engine_next){.event = e->event, .ip = 1, .marker = UINT64_MAX};
	set_patience(e);
	if (e->event == end->event && end->kind != LZ_END_SIGNAL) {
		e->next.marker = end->marker;
		e->next.ip = end->kind == LZ_END_CALL ? end->ip : 1;
		e->next.async = true;
		return;
	}
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	if (!ev || !lz_event_async(ev))
		return;
	e->next.async = true;
	e->next.marker = ev->marker;
	e->next.ip = ev->ip;
	e->next.flags = ev->flags;
	e->next.has_state = ev->has_state;
	e->next.has_pages = ev->has_pages;
	e->next.state = ev->state;
}

/* The nearest marker that someone waits for, or the address where the next signal comes. */
static int arm_goal(struct lz_engine *e)
{
	uint64_t goal = UINT64_MAX;

	lz_engine_peek_next(e);
	if (e->next.async && e->next.marker == e->marker && e->next.ip > 1)
		return lz_engine_stop_at(e, lz_calls_place_of(e, e->next.ip));
	if (e->want.marker > e->marker)
		goal = e->want.marker;
	if (e->next.async && e->next.marker > e->marker && e->next.marker < goal)
		goal = e->next.marker;
	/* exact: whatever ends at or below the guard is in this buffer */
	if (goal == UINT64_MAX || !e->buffer.base || goal - e->buffer.start > LZ_BUFFER_GUARD)
		return set_slot(e, GOAL_SLOT, 0, 0, 0);
	if (goal_start(e, goal) < 0)
		return -1;
	return set_slot(e, GOAL_SLOT, e->buffer.base + (e->goal.start - e->buffer.start), 1, 'w');
}

int lz_engine_arm_user(struct lz_engine *e)
{
	struct lz_slot want[4] = {[IP_SLOT] = {e->want.ip, 1, e->want.ip ? 'x' : 0},
	                          [USER_SLOT] = e->debug.user[0],
	                          [USER_SLOT + 1] = e->debug.user[1]};

	for (size_t i = 0; i < e->breaks.n; i++)
		if (e->breaks.v[i].slot)
			want[e->breaks.v[i].slot] = (struct lz_slot){e->breaks.v[i].addr, 1, 'x'};
	for (int i = IP_SLOT; i < 4; i++)
		if (set_slot(e, i, want[i].addr, want[i].len, want[i].kind) < 0)
			return -1;
	return 0;
}

int lz_engine_arm(struct lz_engine *e)
{
	return arm_goal(e) < 0 || lz_engine_arm_user(e) < 0 ? -1 : 0;
}

/* A marker's last byte is stored first, its code byte last: if the one has just been written and
 * the marker is not complete, what is to be waited for is the other. */
static void correct_goal(struct lz_engine *e)
{
	if (e->goal.guessed && e->goal.end != UINT64_MAX && e->marker < e->goal.end &&
	    e->goal.end - e->marker <= LZ_MARKER_MAX_SIZE)
		e->goal.start = e->marker;
}

/* ---- stops ---- */

static unsigned arrived(struct lz_engine *e)
{
	return (e->want.ip && e->regs.rip == e->want.ip ? LZ_HALT_EXEC : 0) |
	       (lz_engine_has_break(e, e->regs.rip) ? LZ_HALT_BREAK : 0);
}

/* Our own int3: back to its address. */
static bool at_int3(struct lz_engine *e)
{
	for (size_t i = 0; i < e->breaks.n; i++)
		if (e->breaks.v[i].in && e->breaks.v[i].addr == e->regs.rip - 1) {
			e->regs.rip--;
			e->regs_dirty = true;
			return true;
		}
	return false;
}

static int flags_of(int ret, struct lz_halt *h)
{
	if (ret > 0)
		h->flags |= (unsigned)ret;
	return ret < 0 ? -1 : 0;
}

static int on_trap(struct lz_engine *e, const siginfo_t *info, bool step, struct lz_halt *h)
{
	uint64_t fired;

	if (lz_proc_take_debug(&e->proc, &fired) < 0)
		return -1;
	int ret = lz_engine_sync(e);
	if (ret)
		return flags_of(ret > 0 ? LZ_HALT_DIVERGED : ret, h);
	if (!(fired & 0x400f) && info->si_code == SI_KERNEL && !at_int3(e)) {
		const int ours = lz_calls_at_int3(e);

		if (ours <= 0)
			return flags_of(ours < 0 ? -1 : lz_engine_at_fault(e, SIGTRAP), h);
	}
	if (fired & 1 && e->debug.set[GOAL_SLOT].kind == 'w') {
		if (e->marker == e->want.marker)
			h->flags |= LZ_HALT_MARKER;
		correct_goal(e);
	}
	for (unsigned i = 0; i < 2; i++)
		if (fired >> (USER_SLOT + i) & 1 && e->debug.set[USER_SLOT + i].kind != 'x') {
			h->flags |= LZ_HALT_WATCH;
			h->fired |= 1U << i;
		}
	if (fired & 0x4000 && step)
		h->flags |= LZ_HALT_STEP;
	h->flags |= arrived(e);
	return 0;
}

/* No event tells of one that always has the same answer. 1; 0: it is none; 2: diverged. */
static int do_cpuid(struct lz_engine *e, bool step, struct lz_halt *h)
{
	uint8_t insn[LZ_CPUID_LEN];

	if (lz_engine_read(e, e->regs.rip, insn, sizeof insn) != sizeof insn || insn[0] != 0x0f ||
	    (insn[1] != LZ_CPUID_ARMED && insn[1] != LZ_CPUID_OPCODE) ||
	    !lz_cpuid_answer(&e->rp->cpuid, &e->regs))
		return 0;
	e->regs_dirty = true;
	int ret = lz_engine_sync(e);
	if (ret)
		return ret < 0 ? -1 : 2;
	h->flags |= (step ? LZ_HALT_STEP : 0) | arrived(e);
	return 1;
}

static int on_segv(struct lz_engine *e, const siginfo_t *info, bool step, struct lz_halt *h)
{
	uint64_t at = (uint64_t)(uintptr_t)info->si_addr;
	int unhidden;

	if (e->buffer.base && info->si_code > 0 && info->si_code != SI_KERNEL &&
	    at - e->buffer.base - LZ_BUFFER_GUARD < LZ_PAGE) {
		int ret = lz_engine_take_buffer(e);
		return flags_of(ret > 0 ? LZ_HALT_DIVERGED : ret, h);
	}
	const struct lz_guarded *g = lz_engine_guard_of(e, at);
	if ((info->si_code == SEGV_ACCERR || info->si_code == SEGV_PKUERR) && g && g->in) {
		h->flags |= LZ_HALT_PAGE;
		h->fault = at;
		return 0;
	}
	if (info->si_code == SEGV_PKUERR && (unhidden = lz_calls_unhide(e, at)))
		return flags_of(unhidden < 0 ? -1 : 0, h);
	int known = info->si_code == SI_KERNEL ? do_cpuid(e, step, h) : 0;
	if (known)
		return flags_of(known == 2 ? LZ_HALT_DIVERGED : known < 0 ? -1 : 0, h);
	return flags_of(lz_engine_at_fault(e, SIGSEGV), h);
}

/* Stopped by ourselves: for an interrupt (seen before the next resume), or for running too long. */
static int on_stop(struct lz_engine *e, struct lz_halt *h)
{
	struct lz_replay *rp = e->rp;

	if (!rp->stuck || rp->stuck != rp->run)
		return 0;
	rp->stuck = 0;
	int ret = lz_engine_sync(e);
	if (!ret)
		ret = lz_engine_diverge(
		    e,
		    "the program ran for %lu s of CPU time without coming to what is recorded next",
		    (unsigned long)(rp->patience_ms / 1000));
	return flags_of(ret > 0 ? LZ_HALT_DIVERGED : ret, h);
}

static int on_alarm(struct lz_engine *e, struct lz_halt *h)
{
	if (!lz_engine_slice_is_over(e))
		return 0;
	int ret = lz_engine_sync(e);
	return flags_of(ret > 0 ? LZ_HALT_DIVERGED : ret < 0 ? ret : LZ_HALT_SLICE, h);
}

static int on_signal(struct lz_engine *e, int sig, bool step, struct lz_halt *h)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, e->proc.pid, 0, &info) < 0)
		return lz_fail_errno("cannot ask why the replay process stopped");
	switch (sig) {
	case SIGTRAP: return on_trap(e, &info, step, h);
	case SIGSEGV: return on_segv(e, &info, step, h);
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
		if (info.si_code > 0)
			return flags_of(lz_engine_at_fault(e, sig), h);
		return 0;
	case SIGSTOP: return on_stop(e, h);
	case SIGALRM: return on_alarm(e, h);
	default: /* from outside: not meant for the program */ return 0;
	}
}

int lz_engine_wait(struct lz_engine *e, int *status)
{
	pid_t got;

	do {
		got = waitpid(e->proc.pid, status, __WALL);
	} while (got < 0 && errno == EINTR);
	if (got == e->proc.pid && WIFSTOPPED(*status) && !(*status >> 16))
		return 0;
	if (got == e->proc.pid && WIFSTOPPED(*status)) {
		kill(got, SIGKILL);
		return lz_fail("the replayed process started another one: the recording is damaged "
		               "or forged");
	}
	if (got == e->proc.pid)
		e->proc.pid = -1;
	if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGSYS)
		return lz_fail(
		    "the replay process was killed by its system call filter: the recording "
		    "is damaged or forged");
	return lz_fail("the replay process died (status %#x): was it killed, or is memory short?",
	               *status);
}

/* Behind a tick it is the run that was under way: else nothing would take too long for who watches. */
static void begin_run(struct lz_engine *e)
{
	struct lz_replay *rp = e->rp;

	if (rp->ticked != rp->run || rp->ran_to != e->event || rp->ran != e->proc.pid)
		rp->run++;
	rp->ticked = 0;
	rp->ran_to = e->event;
	rp->ran = e->proc.pid;
	rp->running = e->proc.pid;
}

/* One resume. No flag set in H: go on. */
static int go(struct lz_engine *e, bool step, struct lz_halt *h)
{
	struct lz_replay *rp = e->rp;
	int status;

	if (lz_engine_set_slice(e) < 0 || lz_engine_flush(e) < 0)
		return -1;
	rp->patience_ms = e->next.patience_ms ? e->next.patience_ms : UINT64_MAX;
	begin_run(e);
	if (rp->interrupted) {
		rp->running = 0;
		h->flags |= LZ_HALT_INTERRUPT;
		return 0;
	}
	if (lz_calls_resume(e, step) < 0)
		return -1;
	int ret = lz_engine_wait(e, &status);
	rp->running = 0;
	if (rp->tick)
		rp->tick(rp->tick_arg);
	if (ret < 0 || lz_calls_stopped(e, &status) < 0 || lz_calls_leave(e, &status) < 0)
		return -1;
	if ((ret = lz_calls_take(e)))
		return flags_of(ret > 0 ? LZ_HALT_DIVERGED : ret, h);
	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		e->in_call = true;
		/* the instruction keeps the flags there: the one that traps a step is ours */
		if (step)
			e->regs.r11 &= ~(uint64_t)FLAG_TF;
		ret = lz_engine_at_call(e);
		if (ret == LZ_HALT_EVENT)
			lz_calls_met(e);
		return flags_of(ret, h);
	}
	return on_signal(e, WSTOPSIG(status), step, h);
}

/* ---- single steps ---- */

static struct lz_softbreak *break_at(struct lz_engine *e, uint64_t addr)
{
	for (size_t i = 0; i < e->breaks.n; i++)
		if (e->breaks.v[i].addr == addr)
			return &e->breaks.v[i];
	return NULL;
}

/* To the end of a rep instruction by a breakpoint behind it, or, if no debug register is free,
 * iteration by iteration. Traps of watchpoints on the way are remembered. */
static int step_rep(struct lz_engine *e, unsigned len, struct lz_halt *h)
{
	uint64_t start = e->regs.rip;
	int slot = !e->want.ip ? IP_SLOT : !e->debug.user[1].kind ? USER_SLOT + 1 : 0;
	unsigned seen = 0;

	while (e->regs.rip == start) {
		struct lz_halt one = {0};
		if (slot && set_slot(e, slot, start + len, 1, 'x') < 0)
			return -1;
		if (go(e, !slot, &one) < 0)
			return -1;
		h->fired |= one.fired;
		h->fault = one.fault;
		seen |= one.flags & LZ_HALT_WATCH;
		if (one.flags &
		    ~(unsigned)(LZ_HALT_WATCH | LZ_HALT_STEP | LZ_HALT_EXEC | LZ_HALT_BREAK)) {
			h->flags |= one.flags | seen;
			return 0;
		}
	}
	h->flags |= seen | LZ_HALT_STEP | arrived(e);
	return 0;
}

/* The flag that traps each step must not be seen in what pushf pushes. */
static void fix_pushf(struct lz_engine *e)
{
	uint64_t pushed;

	if (lz_proc_read_some(&e->proc, e->regs.rsp, &pushed, sizeof pushed) != sizeof pushed ||
	    !(pushed & FLAG_TF))
		return;
	pushed &= ~(uint64_t)FLAG_TF;
	lz_proc_write(&e->proc, e->regs.rsp, &pushed, sizeof pushed);
}

/* Until flags are set or nothing was done (a buffer was taken): then again. */
static int step_once(struct lz_engine *e, struct lz_halt *h)
{
	uint8_t code[16];
	struct lz_softbreak *b = break_at(e, e->regs.rip);
	size_t n = lz_engine_read(e, e->regs.rip, code, sizeof code);
	unsigned rep = lz_insn_rep(code, n);
	int ret;

	if (b && e->breaks.in)
		lz_engine_take_break(e, b);
	if (rep)
		ret = step_rep(e, rep, h);
	else
		ret = go(e, true, h);
	if (b && e->breaks.in)
		lz_engine_put_break(e, b);
	if (!ret && h->flags & LZ_HALT_STEP && lz_insn_pushf(code, n))
		fix_pushf(e);
	return ret;
}

/* A watchpoint has fired: inside the rep instruction at hand, between two iterations? Intel's
 * processors set the resume flag then (SDM volume 3, section 18.3.1.1). AMD's leave it as it is,
 * so there a store right before the instruction to what its first iteration would have come from
 * is taken for one of its own. */
static bool inside_rep(const struct lz_engine *e, const uint8_t *code, size_t n, unsigned fired)
{
	if (e->regs.eflags & LZ_FLAG_RF)
		return true;
	for (unsigned i = 0; i < 2 && !__builtin_cpu_is("intel"); i++)
		if (fired >> i & 1 && lz_insn_rep_touched(code, n, &e->regs, e->debug.user[i].addr,
		                                          e->debug.user[i].len))
			return true;
	return false;
}

/* A watchpoint that fires inside a rep instruction: to its end, where a position can be named. */
static int finish_rep(struct lz_engine *e, struct lz_halt *h)
{
	uint8_t code[16];
	struct lz_halt end = {.fired = h->fired};

	/* a step goes to the end anyway */
	if (h->flags & (LZ_HALT_EVENT | LZ_HALT_DIVERGED | LZ_HALT_PAGE | LZ_HALT_STEP))
		return 0;
	size_t n = lz_engine_read(e, e->regs.rip, code, sizeof code);
	unsigned rep = lz_insn_rep(code, n);
	if (!rep || !inside_rep(e, code, n, h->fired))
		return 0;
	if (step_rep(e, rep, &end) < 0)
		return -1;
	h->fired = end.fired;
	h->flags = (end.flags & ~(unsigned)LZ_HALT_STEP) | LZ_HALT_WATCH;
	return 0;
}

/* The instruction that we stand on must not trap again at its own debug register. */
static void pass_slot(struct lz_engine *e)
{
	for (int i = 0; i < 4; i++)
		if (e->debug.set[i].kind == 'x' && e->debug.set[i].addr == e->regs.rip &&
		    !(e->regs.eflags & LZ_FLAG_RF)) {
			e->regs.eflags |= LZ_FLAG_RF;
			e->regs_dirty = true;
		}
}

/* The instruction at hand faulted in a guarded page: done with the pages accessible and no int3 in
 * them. */
static int pass_guard(struct lz_engine *e, struct lz_halt *h)
{
	uint64_t fault = h->fault;
	bool watched = lz_engine_guard_of(e, fault)->kind & (LZ_GUARD_WRITES | LZ_GUARD_READS);

	*h = (struct lz_halt){0};
	e->guarded_regs = e->regs;
	lz_engine_unbreak(e);
	if (lz_engine_unguard(e) < 0)
		return -1;
	pass_slot(e);
	while (!h->flags)
		if (step_once(e, h) < 0)
			return -1;
	if (h->flags & LZ_HALT_STEP && watched)
		h->flags |= LZ_HALT_WATCH | LZ_HALT_PAGE;
	h->fault = fault;
	return 0;
}

/* Nor at its own int3. 1: it was stepped over. */
static int leave_here(struct lz_engine *e, bool step, struct lz_halt *h)
{
	const struct lz_softbreak *b = break_at(e, e->regs.rip);

	pass_slot(e);
	if (step || !b || b->slot)
		return 0;
	while (!h->flags)
		if (step_once(e, h) < 0)
			return -1;
	h->flags &= ~(unsigned)LZ_HALT_STEP;
	return 1;
}

int lz_engine_resume(struct lz_engine *e, bool step, struct lz_halt *h)
{
	bool first = !e->unsettled;

	*h = (struct lz_halt){0};
	e->unsettled = false;
	while (!h->flags) {
		int moved = 0, due = lz_engine_due(e);
		if (due)
			return flags_of(due, h);
		if (lz_calls_ready(e, step) < 0 || lz_engine_insert(e) < 0 ||
		    lz_engine_arm(e) < 0 || lz_engine_guard(e) < 0)
			return -1;
		if (first)
			moved = leave_here(e, step, h);
		first = false;
		if (moved < 0 || (!moved && (step ? step_once(e, h) : go(e, false, h)) < 0))
			return -1;
		if (h->flags & LZ_HALT_PAGE) {
			if (pass_guard(e, h) < 0)
				return -1;
			if (!step)
				h->flags &= ~(unsigned)LZ_HALT_STEP;
		}
	}
	if (h->flags & LZ_HALT_WATCH && finish_rep(e, h) < 0)
		return -1;
	e->unsettled = h->flags & (LZ_HALT_INTERRUPT | LZ_HALT_SLICE);
	return 0;
}
