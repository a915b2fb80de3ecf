/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals reach the program: at an instant that replay can find again (a system call, a marker
 * store, or a checkpoint taken on the spot), by one single step, which stops at the handler's
 * first instruction. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/calls/filter.h"
#include "tracer/calls/rseq.h"
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/run/run.h"
#include "tracer/signals/signals.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <lizard/error.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>

#define SA_RESETHAND_ 0x80000000ULL
enum {
	TRAP_FLAG = 0x100,
	/* How long the program goes on before a signal that has come while it stood. */
	STOPPED_NS = 10000,
	CROWDED_NS = 60000
};

static int begin_event(struct lz_tracer *t, int signo, const siginfo_t *info, uint64_t ip,
                       uint32_t flags)
{
	lz_build(t, LZ_EV_SIGNAL, ip);
	t->b.ev.signo = (uint32_t)signo;
	t->b.ev.flags = flags | (t->cur->sig.spin ? LZ_EVF_SPIN : 0);
	t->cur->sig.spin = false;
	if (!(flags & LZ_EVF_SYNC))
		lz_build_instant(t, t->cur);
	memcpy(t->b.ev.siginfo, info, sizeof(t->b.ev.siginfo));
	return 0;
}

/* From the stack pointer RSP to the end of the saved vector registers. FRAME: the first N bytes. */
static uint64_t frame_len(struct lz_tracer *t, uint64_t rsp, const uint8_t *frame, size_t n)
{
	/* struct _fpx_sw_bytes: extended_size, in the part that fxsave leaves to software */
	enum { EXTENDED_SIZE = 464 + 4, MOST = 65536, FXSAVE = 512 };
	enum { MACHINE_LEN = offsetof(ucontext_t, uc_sigmask) };
	const uint64_t without = 8 + sizeof(ucontext_t) + 128;
	uint32_t size = 0;
	ucontext_t uc;

	if (n < 8 + MACHINE_LEN)
		return without;
	memcpy(&uc, frame + 8, MACHINE_LEN);
	const uint64_t fp = (uint64_t)(uintptr_t)uc.uc_mcontext.fpregs - rsp;
	if (fp == 0 || fp >= MOST)
		return without;
	if (fp + EXTENDED_SIZE + sizeof(size) <= n)
		memcpy(&size, frame + fp + EXTENDED_SIZE, sizeof(size));
	else
		lz_proc_read_some(&t->p, rsp + fp + EXTENDED_SIZE, &size, sizeof(size));
	return fp + (size > MOST ? FXSAVE : size);
}

/* Most frames are read at once. */
static int log_frame(struct lz_tracer *t, const struct user_regs_struct *r)
{
	uint8_t frame[LZ_PAGE];
	const size_t n = lz_proc_read_some(&t->p, r->rsp, frame, sizeof(frame));
	const uint64_t len = frame_len(t, r->rsp, frame, n);

	return len <= n ? lz_build_write(t, r->rsp, frame, len) : lz_build_read(t, r->rsp, len);
}

/* The handler must not see where it has interrupted the program in a detour. */
static int show_frame(struct lz_tracer *t, const struct user_regs_struct *r)
{
	const uint64_t at = r->rsp + 8 + offsetof(ucontext_t, uc_mcontext.gregs);
	gregset_t g = {0};

	if (!t->p.elsewhere || lz_proc_read(&t->p, at, g, sizeof(g)) < 0)
		return 0;
	const uint64_t real = (uint64_t)g[REG_RIP], shown = lz_sites_shown(&t->fast.sites, real);

	if (real == shown)
		return 0;
	g[REG_RIP] = (greg_t)shown;
	if ((uint64_t)g[REG_RCX] == real)
		g[REG_RCX] = (greg_t)shown;
	return lz_proc_write(&t->p, at, g, sizeof(g));
}

static int at_handler(struct lz_tracer *t, int signo)
{
	struct user_regs_struct r;
	struct lz_disposition *act = &t->act[signo];

	if (lz_proc_regs(&t->p, &r) < 0 || show_frame(t, &r) < 0 ||
	    lz_build_regs(t, &r, true) < 0 || log_frame(t, &r) < 0)
		return -1;
	if (act->flags & SA_RESETHAND_)
		act->handler = 0;
	if (ptrace(PTRACE_GETSIGMASK, t->p.pid, sizeof(t->cur->sig.blocked), &t->cur->sig.blocked) <
	    0)
		return lz_fail_errno("cannot read the program's signal mask");
	if (lz_build_commit(t) < 0 || lz_instant_here(t, &r) < 0)
		return -1;
	t->cur->at_handler = true;
	lz_fast_at_handler(t, r.rip);
	return 0;
}

/* A frame that did not fit: what is left of it is below the red zone, as far down as there is
 * memory. */
static int log_torn_frame(struct lz_tracer *t)
{
	enum { RED_ZONE = 128, MOST = 4 * LZ_PAGE };
	struct user_regs_struct r;
	uint8_t byte;

	if (lz_proc_regs(&t->p, &r) < 0)
		return 0; /* it is gone */
	uint64_t top = r.rsp - RED_ZONE, from = top;
	while (top - from < MOST && lz_proc_read_some(&t->p, lz_page_down(from - 1), &byte, 1) == 1)
		from = lz_page_down(from - 1);
	return from < top ? lz_build_read(t, from, top - from) : 0;
}

static int into_handler(struct lz_tracer *t, int signo, siginfo_t *info, uint64_t ip,
                        uint32_t flags)
{
	int status;

	if (begin_event(t, signo, info, ip, flags) < 0 || lz_rseq_abort(t, ip) < 0 ||
	    lz_stream_set_pos(t) < 0)
		return -1;
	if (ptrace(PTRACE_SETSIGINFO, t->p.pid, 0, info) < 0 ||
	    ptrace(PTRACE_SINGLESTEP, t->p.pid, 0, signo) < 0)
		return lz_fail_errno("cannot deliver signal %d", signo);
	if (lz_proc_wait(t->p.pid, &status) < 0)
		return -1;
	if (WIFSTOPPED(status) && status >> 8 == SIGTRAP)
		return at_handler(t, signo);
	/* The frame did not fit on the stack, or the program was killed meanwhile. */
	t->b.ev.flags |= LZ_EVF_IGNORED;
	t->cur->sig.forced = WIFSTOPPED(status) && status >> 8 == SIGSEGV ? signo : 0;
	if (t->act[signo].flags & SA_RESETHAND_)
		t->act[signo].handler = 0;
	if ((t->cur->sig.forced && log_torn_frame(t) < 0) || lz_build_commit(t) < 0)
		return -1;
	t->cur->pending_status = status;
	t->cur->has_pending_status = true;
	return 0;
}

/* The kernel spares the first process of a PID namespace a fault as well while it is traced: it
 * would meet the same one for ever. Without us it dies of it. */
static int dies_alone(struct lz_tracer *t, int signo, const siginfo_t *info)
{
	struct user_regs_struct r;

	if (lz_proc_regs(&t->p, &r) < 0)
		return -1;
	/* Other than a fault, a breakpoint instruction has been executed already, and a call that a
	 * filter has judged, too. */
	r.rip -= signo == SIGTRAP && info->si_code == SI_KERNEL ? 1 : signo == SIGSYS ? 2 : 0;
	if (lz_proc_set_regs(&t->p, &r) < 0)
		return -1;
	lz_shared_lock_leave(t);
	t->status = signo; /* nobody but its parent is told */
	return lz_detach(t);
}

static int deliver_now(struct lz_tracer *t, int signo, siginfo_t *info,
                       const struct user_regs_struct *r, uint32_t flags, int *deliver)
{
	if (t->cur->call.suspended && lz_call_give_up(t) < 0)
		return -1;
	if (lz_signal_handler(t, signo) > 1 && signo != SIGKILL)
		return into_handler(t, signo, info, r->rip, flags);
	if (begin_event(t, signo, info, r->rip, flags | LZ_EVF_FATAL) < 0 || lz_build_commit(t) < 0)
		return -1;
	if (t->own_tid == 1 && lz_signal_synchronous(signo, info))
		return dies_alone(t, signo, info);
	if (ptrace(PTRACE_SETSIGINFO, t->p.pid, 0, info) < 0)
		return lz_fail_errno("cannot deliver signal %d", signo);
	*deliver = signo;
	return 0;
}

/* The program steps itself: replay, which steps too, could not tell the two apart. It goes on in
 * its handler; without one the next instruction ends it as this one would have. */
static int steps_itself(struct lz_tracer *t)
{
	bool handled = lz_signal_handler(t, SIGTRAP) > 1;
	int status = SIGTRAP << 8 | 0x7f;

	if (handled && (ptrace(PTRACE_SINGLESTEP, t->p.pid, 0, SIGTRAP) < 0 ||
	                lz_proc_wait(t->p.pid, &status) < 0))
		return lz_fail_errno("cannot deliver a trap to the program");
	if (!WIFSTOPPED(status) || status >> 8 != SIGTRAP) {
		t->cur->pending_status = status;
		t->cur->has_pending_status = true;
	}
	return lz_fail(
	    "the program has set the trap flag of the processor to step itself, which is "
	    "not supported");
}

/* The marker that a held signal waited for. */
static int at_marker(struct lz_tracer *t, bool deliverable, struct user_regs_struct *r)
{
	if (lz_stream_unfence(t) < 0)
		return -1;
	if (!t->cur->sig.armed)
		return 0;
	if (!deliverable) {
		int taken = lz_finish_marker(t, r);

		if (taken < 0)
			return -1;
		if (!taken)
			return t->cur->has_pending_status ? 0 : lz_stream_fence(t);
	}
	if (lz_instant_here(t, r) < 0)
		return -1;
	t->sched.point = !t->cur->sig.n_held;
	return lz_signal_release(t);
}

/* The guard page was met: an instant as good as any for a checkpoint or a signal. */
static int buffer_taken(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (lz_instant_here(t, r) < 0 || lz_chaos_watch(t) < 0 ||
	    (!lz_shared_by_others(t) && lz_checkpoint_maybe(t, r) < 0))
		return -1;
	t->sched.point = t->cur->at_full = true;
	return t->cur->sig.armed && !t->cur->sig.brief ? at_marker(t, true, r) : 0;
}

/* The next time there may be no stop for it. */
static int trapped_insn(struct lz_tracer *t, struct user_regs_struct *r)
{
	const uint64_t at = r->rip;
	int ret = lz_insn_known(t, r);

	if (ret)
		return ret;
	ret = lz_insn_fault(t, r);

	const bool counter = t->b.ev.insn == LZ_INSN_RDTSC || t->b.ev.insn == LZ_INSN_RDTSCP;
	if (ret == 1 && (counter || t->b.ev.insn == LZ_INSN_XSAVEC) &&
	    lz_fast_after_insn(t, at, counter, r) < 0)
		return -1;
	return ret;
}

/* A fault of our own making. 1: dealt with. */
static int own_fault(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	uint64_t addr = (uint64_t)(uintptr_t)info->si_addr;
	int ret = 0;

	if (info->si_code == SI_KERNEL)
		ret = trapped_insn(t, r);
	else if (info->si_code == SEGV_ACCERR && (ret = lz_stream_fault(t, addr, r)) == 1)
		ret = buffer_taken(t, r) < 0 ? -1 : 1;
	else if (ret == 2)
		ret = at_marker(t, lz_stream_deliverable(t, addr, r), r) < 0 ? -1 : 1;
	if (ret > 0 && !t->cur->has_pending_status && lz_signal_undo_force(t, SIGSEGV) < 0)
		return -1;
	return ret;
}

/* The end of a turn by chance: behind the store of a marker's code byte, or of a byte before it. */
static int turn_over(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (lz_chaos_unwatch(t) < 0 || lz_stream_unfence(t) < 0)
		return -1;
	t->sched.chaos.over = true;
	if (lz_finish_marker(t, r) < 0)
		return -1;
	if (t->cur->has_pending_status)
		return 0;
	if (lz_instant_here(t, r) < 0)
		return -1;
	t->sched.point = !t->cur->sig.n_held;
	return lz_signal_release(t);
}

/* The turn is to end behind a call, which has returned: lz_walk_on() goes on from here. */
static int call_over(struct lz_tracer *t)
{
	t->sched.chaos.over = true;
	t->sched.point = lz_sched_due(t);
	return t->sched.point || lz_chaos_unwatch(t) == 0 ? lz_signal_undo_force(t, SIGTRAP) : -1;
}

/* 1: it was for --chaos. */
static int chaos_trap(struct lz_tracer *t, struct user_regs_struct *r)
{
	int ret = 0;

	switch (lz_chaos_trapped(t, r)) {
	case LZ_CHAOS_NONE: return 0;
	case LZ_CHAOS_MARKER: ret = turn_over(t, r); break;
	case LZ_CHAOS_RETURN: ret = call_over(t); break;
	case LZ_CHAOS_PASSED: ret = lz_signal_undo_force(t, SIGTRAP); break;
	}
	return ret < 0 ? -1 : 1;
}

/* SIGKILL takes a program out of any stop; what is read then is of the next one. */
static bool has_gone_on(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP && info->si_code == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

/* By the kernel, as there was no room for another signal's frame: no instruction has run since.
 * One that is blocked or ignored, or had no room itself, has become fatal. */
static bool is_forced(struct lz_tracer *t, int signo, const siginfo_t *info)
{
	struct lz_thread_signals *s = &t->cur->sig;
	bool forced = s->forced && signo == SIGSEGV && info->si_code == SI_KERNEL;

	if (forced &&
	    (s->forced == SIGSEGV || lz_signal_ignored(t, signo) || s->blocked >> (signo - 1) & 1))
		t->act[signo].handler = 0;
	s->forced = 0;
	return forced;
}

static bool is_of_timer(int signo, const siginfo_t *info)
{
	return info->si_code == SI_TIMER ||
	       (info->si_code == SI_KERNEL &&
	        (signo == SIGALRM || signo == SIGVTALRM || signo == SIGPROF));
}

/* Where the program stands because of us, and nothing has run since, a signal of its is not to find
 * it: for how long it is put off then, 0: not at all.
 * - A handler has begun or returned. A timer that is faster than we are would keep the program there
 *   for ever; where its handler may be interrupted by itself, it would fill the stack with frames.
 * - The buffer was full. Alone the program would not have stood there. By chance, as turns end with
 *   --chaos, no time plays a part. */
static uint64_t stands_ns(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct lz_thread *cur = t->cur;

	if (!lz_at_instant(t, r))
		return 0;
	if (cur->at_handler)
		return CROWDED_NS;
	return cur->at_full && !t->sched.chaos.on ? STOPPED_NS : 0;
}

/* Without a fence: until the next signal or system call, or for so many nanoseconds. */
static void await_briefly(struct lz_tracer *t, uint64_t ns)
{
	struct lz_thread_signals *s = &t->cur->sig;

	lz_signal_await(s);
	s->brief = ns + s->armed_since % (2 * ns);
}

/* The next one may be there before anything has run. */
static int hold_back(struct lz_tracer *t, int signo, const siginfo_t *info, uint64_t ns)
{
	if (lz_signal_keep(t, signo, info) < 0)
		return -1;
	t->cur->at_valid = true;
	if (!t->cur->sig.armed)
		await_briefly(t, ns);
	return lz_signal_shut(t, signo);
}

/* Where nothing else names the instant. 1; 0: not now. */
static int by_checkpoint(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (t->cur->sig.armed || !lz_may_end_at(t, r) || !lz_checkpoint_affordable(t) ||
	    lz_checkpoint_at(t, r->rip))
		return 0;
	if (lz_checkpoint(t, r, false) < 0 || lz_instant_here(t, r) < 0)
		return -1;
	t->cur->sig.spin = true;
	return 1;
}

/* 1: a position names the instant at which the program stands; 0. Where a call is just about to be
 * made again, which has no event yet, its entry is the next one. */
static int named(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (lz_at_instant(t, r))
		return 1;
	if (t->cur->call.suspended)
		return 0;

	int ret = lz_anywhere(t, r);

	if (ret == 0)
		ret = lz_anywhere_unmarked(t, r);
	return ret ? ret : by_checkpoint(t, r);
}

/* In the midst of a marker or of a rep instruction: to its end. 1: it is there. */
static int step_out(struct lz_tracer *t, struct user_regs_struct *r)
{
	const bool marker = lz_stream_inside_marker(t, r);

	if (t->cur->has_pending_status || lz_fast_inside(t, r) || lz_may_not_fit(t) ||
	    !(marker || lz_at_rep(t, r->rip)))
		return 0;
	if ((marker ? lz_finish_marker(t, r) : lz_leave_rep(t, r)) < 0)
		return -1;
	return !t->cur->has_pending_status;
}

/* There is no name for the instant yet: soon, or at the next marker or call. */
static int await_name(struct lz_tracer *t, struct user_regs_struct *r)
{
	int there = 0;

	/* one marker may follow another */
	for (int i = 0; i < 4 && there == 0; i++) {
		there = step_out(t, r);
		if (there > 0)
			there = named(t, r);
	}
	if (there)
		return there < 0 ? -1 : lz_signal_release(t);
	lz_signal_await(&t->cur->sig);
	return t->cur->has_pending_status ? 0 : lz_stream_fence(t);
}

static int put_off(struct lz_tracer *t, int signo, const siginfo_t *info,
                   struct user_regs_struct *r)
{
	const bool awaits = t->cur->sig.armed;

	if (lz_signal_keep(t, signo, info) < 0)
		return -1;
	return awaits ? 0 : await_name(t, r);
}

int lz_signal_brief_over(struct lz_tracer *t, struct user_regs_struct *r)
{
	const uint64_t ns = stands_ns(t, r);

	if (ns) {
		await_briefly(t, ns);
		return 0;
	}
	t->cur->sig.armed = false;
	const int there = named(t, r);

	if (there < 0)
		return -1;
	return there ? lz_signal_release(t) : await_name(t, r);
}

/* A fault of our own making has unblocked it: the kernel shows it instead of the fault, which comes
 * again. */
static bool is_unblocked_by_fault(const struct lz_tracer *t, int signo,
                                  const struct user_regs_struct *r)
{
	return (signo == SIGSEGV || signo == SIGTRAP) && t->cur->sig.blocked >> (signo - 1) & 1 &&
	       !lz_at_instant(t, r);
}

int lz_signal_stop(struct lz_tracer *t, int signo, int *deliver)
{
	struct user_regs_struct r;
	siginfo_t info;

	*deliver = 0;
	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0) {
		if (errno == ESRCH)
			return 0;
		return lz_fail_errno("cannot read signal %d of the program", signo);
	}
	if (has_gone_on(&info))
		return 0;
	if (lz_proc_regs(&t->p, &r) < 0)
		return -1;
	const bool is_sent = lz_signal_find_sent(t, signo, &info);
	int fast = lz_fast_refused(t, &info, &r);
	if (fast == 0)
		fast = lz_fast_trap(t, &info, &r);
	if (fast == 0)
		fast = lz_fast_fault(t, &info, &r);
	if (fast)
		return fast < 0 ? -1 : 0;
	if (lz_filter_signalled(t, signo, &info) || is_forced(t, signo, &info))
		return deliver_now(t, signo, &info, &r, 0, deliver);
	if (lz_signal_synchronous(signo, &info)) {
		int ours = signo == SIGSEGV ? own_fault(t, &info, &r) : 0;
		if (signo == SIGTRAP)
			ours = chaos_trap(t, &r);
		if (ours)
			return ours < 0 ? -1 : 0;
		if (signo == SIGTRAP && info.si_code == TRAP_TRACE && r.eflags & TRAP_FLAG)
			return steps_itself(t);
		return deliver_now(t, signo, &info, &r, LZ_EVF_SYNC, deliver);
	}
	if (lz_signal_unseen(t, signo))
		return lz_signal_pass(t, signo, &info, deliver);
	if (lz_call_not_again(t, &r) < 0)
		return -1;
	const uint64_t ns = stands_ns(t, &r);
	if (ns && (t->cur->at_full ? !is_sent : is_of_timer(signo, &info)))
		return hold_back(t, signo, &info, ns);
	if (is_unblocked_by_fault(t, signo, &r)) {
		if (signo == SIGTRAP && lz_fast_trap_behind(t, &r) < 0)
			return -1;
		return lz_signal_hold(t, signo, &info);
	}
	int there = named(t, &r);
	if (there <= 0)
		return there < 0 ? -1 : put_off(t, signo, &info, &r);
	if (!t->cur->sig.n_held)
		return deliver_now(t, signo, &info, &r, 0, deliver);
	/* those that are held come before it; the instant keeps its name */
	if (lz_signal_keep(t, signo, &info) < 0)
		return -1;
	t->cur->at_valid = true;
	return lz_signal_release(t);
}

/* No sequence is as long as so many spins. */
static bool in_sequence(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	enum { MOST = 1000 };

	return t->cur->sig.retries < MOST && lz_rseq_inside(t, r->rip);
}

/* Neither a marker nor a system call came in time: the instant gets a checkpoint for its name. */
int lz_signal_spin(struct lz_tracer *t, struct user_regs_struct *r)
{
	bool due = t->cur->sig.n_held || t->cur->sig.stop_due || lz_sched_due(t) ||
	           lz_shared_lock_due(t, 0);

	if (!t->cur->sig.armed && !due)
		return 0;
	if (lz_stream_unfence(t) < 0)
		return -1;
	int named = !due || lz_at_instant(t, r) ? 1 : lz_anywhere(t, r);
	if (named < 0)
		return -1;
	if (!named) {
		/* Between a marker's stores the stream cannot be interrupted; and a position is
		 * the name of one checkpoint. */
		if (lz_fast_inside(t, r) || (in_sequence(t, r) && ++t->cur->sig.retries) ||
		    ((lz_stream_inside_marker(t, r) || lz_checkpoint_at(t, r->rip)) &&
		     t->cur->sig.retries++ < 8)) {
			t->cur->sig.armed_since = lz_now();
			return lz_stream_fence(t);
		}
		if (lz_leave_rep(t, r) < 0)
			return -1;
		if (t->cur->has_pending_status)
			return 0;
		if (lz_checkpoint(t, r, false) < 0)
			return -1;
		t->cur->sig.spin = true;
	}
	t->cur->sig.retries = 0;
	if (due && lz_instant_here(t, r) < 0)
		return -1;
	t->sched.point = !t->cur->sig.n_held;
	return lz_signal_release(t);
}
