/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording has failed: the program goes on by itself. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/calls/filter.h"
#include "tracer/calls/rseq.h"
#include "tracer/code/code.h"
#include "tracer/follow/follow.h"
#include "tracer/log/log.h"
#include "tracer/run/run.h"
#include "tracer/signals/signals.h"
#include "tracer/state/state.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <linux/audit.h>
#include <lizard/error.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int gone(struct lz_tracer *t, int status)
{
	t->cur->ended = true;
	if (t->cur->tid == t->tid) {
		t->ended = true;
		t->status = status;
	}
	return 0;
}

/* ---- where a thread stands ---- */

/* PTRACE_SYSCALL_INFO_ENTRY, _EXIT, or _NONE outside of calls and at ptrace's own events; -1: it
 * has been killed. */
static int side_of_call(const struct lz_tracer *t)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, t->p.pid, sizeof(info), &info) > 0 ? info.op : -1;
}

static bool by_int80(const struct lz_tracer *t)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, t->p.pid, sizeof(info), &info) > 0 &&
	       info.arch != AUDIT_ARCH_X86_64;
}

/* PTRACE_EVENT_*, 0: another stop. */
static int event_of(const struct lz_tracer *t)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0 || info.si_signo != SIGTRAP ||
	    (info.si_code & 0xff) != SIGTRAP)
		return 0;
	return info.si_code >> 8;
}

/* 1: it was one of a call that would have been made without a stop. */
static int fast_stop(struct lz_tracer *t)
{
	struct user_regs_struct r;
	siginfo_t info;

	if (!t->p.elsewhere || ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0 ||
	    lz_proc_regs(&t->p, &r) < 0)
		return 0;
	int ret = lz_fast_refused(t, &info, &r);
	if (!ret)
		ret = lz_fast_trap(t, &info, &r);
	return ret ? ret : lz_fast_fault(t, &info, &r);
}

/* At a stop that the recorder has not seen. */
static int note(struct lz_tracer *t, int status)
{
	int event = status >> 16;

	if (lz_step_stopped(t, &status) < 0)
		return -1;
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	    event == PTRACE_EVENT_CLONE)
		return lz_child_new(t, event);
	if (event == PTRACE_EVENT_EXEC)
		t->exec_pending = true;
	if (event || WSTOPSIG(status) == (SIGTRAP | 0x80))
		return 0;
	int fast = fast_stop(t);
	if (fast)
		return fast < 0 ? -1 : 0;
	int dropped = lz_signal_hold_stop(t, WSTOPSIG(status));
	if (dropped < 0)
		return -1;
	return dropped && WSTOPSIG(status) == SIGSEGV ? lz_signal_undo_force(t, SIGSEGV) : 0;
}

static int next_stop(struct lz_tracer *t)
{
	int status;

	t->cur->running = false;
	if (lz_proc_wait(t->p.pid, &status) < 0)
		return -1;
	return WIFSTOPPED(status) ? note(t, status) : gone(t, status);
}

/* A call ends if PTRACE_INTERRUPT meets it: not every one is made again by itself. */
static void interrupted(struct lz_tracer *t, bool stepped)
{
	struct user_regs_struct r;

	if (t->cur->call.inside && (stepped || side_of_call(t) == PTRACE_SYSCALL_INFO_EXIT))
		t->cur->call.suspended = lz_proc_regs(&t->p, &r) == 0 && (int64_t)r.rax == -EINTR;
}

/* Of a call whose wait was cut. */
static int give_back_time(struct lz_tracer *t)
{
	struct user_regs_struct r;

	if (!t->cur->call.inside || !t->cur->call.shortened)
		return 0;
	return lz_proc_regs(&t->p, &r) < 0 ? -1 : lz_call_lengthen(t, &r);
}

/* To a stop. */
static int halt(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	const bool stepped = cur->call.stepped;

	if (cur->running) {
		if (ptrace(PTRACE_INTERRUPT, t->p.pid, 0, 0) < 0 || next_stop(t) < 0)
			return -1;
		interrupted(t, stepped);
		return cur->ended || lz_fast_leave_wait(t) >= 0 ? 0 : -1;
	}
	if (!cur->has_pending_status)
		return 0;
	cur->has_pending_status = false;
	return WIFSTOPPED(cur->pending_status) ? note(t, cur->pending_status)
	                                       : gone(t, cur->pending_status);
}

/* An instruction's fault may be of our making: it is made again when nothing of ours is left. */
static int drop_fault(struct lz_tracer *t)
{
	while (!t->cur->ended && side_of_call(t) == PTRACE_SYSCALL_INFO_NONE &&
	       lz_signal_fault_pending(t))
		if (ptrace(PTRACE_SYSCALL, t->p.pid, 0, 0) < 0 || next_stop(t) < 0)
			return -1;
	return 0;
}

/* ---- out of calls ---- */

/* Where it makes the call that it has been about to make, or that it has not really made. */
static int make_again(struct lz_tracer *t, struct user_regs_struct *r, uint64_t nr)
{
	const struct lz_call *c = &t->cur->call;

	if (c->inside)
		r->rdi = c->entry.rdi;
	r->rip -= 2;
	r->rax = nr;
	r->orig_rax = (uint64_t)-1;
	return lz_proc_set_regs(&t->p, r);
}

static int cancel(struct lz_tracer *t)
{
	struct user_regs_struct r, none;

	if (lz_proc_regs(&t->p, &r) < 0)
		return -1;
	const struct lz_call *c = &t->cur->call;
	uint64_t nr = c->inside && c->forced ? c->entry.orig_rax : r.orig_rax;

	none = r;
	none.orig_rax = lz_call_instead(by_int80(t));
	if (lz_proc_set_regs(&t->p, &none) < 0 || ptrace(PTRACE_SYSCALL, t->p.pid, 0, 0) < 0 ||
	    next_stop(t) < 0)
		return -1;
	return t->cur->ended ? 0 : make_again(t, &r, nr);
}

/* What has been made of it stays. */
static int finish(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;
	struct user_regs_struct r;

	if (!c->inside || !c->forced)
		return 0;
	return lz_proc_regs(&t->p, &r) < 0 ? -1 : make_again(t, &r, c->entry.orig_rax);
}

/* To where calls can be made for it. */
static int leave_call(struct lz_tracer *t)
{
	int event, ret;

	while ((event = event_of(t)) == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	       event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_EXEC)
		if (ptrace(PTRACE_SYSCALL, t->p.pid, 0, 0) < 0 || next_stop(t) < 0)
			return -1;
	if (event == PTRACE_EVENT_EXIT) {
		t->cur->ended = true;
		return ptrace(PTRACE_CONT, t->p.pid, 0, 0) < 0 && errno != ESRCH ? -1 : 0;
	}
	switch (side_of_call(t)) {
	case PTRACE_SYSCALL_INFO_ENTRY: ret = cancel(t); break;
	case PTRACE_SYSCALL_INFO_EXIT: ret = finish(t); break;
	default: ret = 0;
	}
	t->cur->call.inside = false;
	return ret;
}

/* Code of the program that is a system call for as long as it takes to make some. */
static struct {
	uint64_t at; /* 0: none */
	uint8_t was[2];
} patched;

/* Where the program has one cannot be seen. */
static int borrow(struct lz_tracer *t)
{
	static const uint8_t call[2] = {0x0f, 0x05};
	struct user_regs_struct r;

	if (lz_proc_regs(&t->p, &r) < 0 ||
	    lz_proc_read(&t->p, r.rip, patched.was, sizeof(patched.was)) < 0 ||
	    lz_proc_write(&t->p, r.rip, call, sizeof(call)) < 0)
		return -1;
	t->p.syscall_insn = patched.at = r.rip;
	t->p.on_trap = NULL;
	return 0;
}

static int give_back(struct lz_tracer *t)
{
	uint64_t at = patched.at;

	patched.at = 0;
	return at ? lz_proc_write(&t->p, at, patched.was, sizeof(patched.was)) : 0;
}

/* The recorder had no time to look at it. */
static int new_program(struct lz_tracer *t)
{
	pid_t pid = t->p.pid;

	t->exec_pending = t->borrowed.undumpable = false;
	lz_stream_forget(t);
	lz_armed_forget(t);
	lz_fast_forget(t);
	lz_proc_close(&t->p);
	if (lz_proc_open(&t->p, pid) < 0)
		t->p = (struct lz_proc){.pid = pid, .mem = -1};
	return lz_find_syscall(&t->p) == 0 ? 0 : borrow(t);
}

static int stand(struct lz_tracer *t)
{
	if (t->cur->ended || !lz_standby_end(t, t->cur))
		return 0;
	if (lz_wait_really(t) < 0 || halt(t) < 0 || drop_fault(t) < 0 ||
	    (!t->cur->ended && (give_back_time(t) < 0 || leave_call(t) < 0)))
		return -1;
	/* or it was not prepared: then no call can be made for it yet */
	const bool is_new = t->exec_pending || !t->p.syscall_insn;
	return is_new && !t->cur->ended ? new_program(t) : 0;
}

/* ---- on its own ---- */

/* The calls made for it have made the kernel forget that it was to make one again. */
static int restart(struct lz_tracer *t)
{
	enum { RESTART_BLOCK = -516 };
	struct user_regs_struct r;

	if (lz_proc_regs(&t->p, &r) < 0)
		return -1;
	bool cut = t->cur->call.suspended && (int64_t)r.rax == -EINTR;

	if (r.orig_rax == (uint64_t)-1 || (!cut && !lz_restarts((int64_t)r.rax)))
		return 0;
	r.rip -= 2;
	r.rax = (int64_t)r.rax == RESTART_BLOCK ? SYS_restart_syscall : r.orig_rax;
	r.orig_rax = (uint64_t)-1;
	return lz_proc_set_regs(&t->p, &r);
}

static bool is_first(const struct lz_tracer *t)
{
	size_t i = 0;

	while (t->thread[i]->ended)
		i++;
	return t->thread[i] == t->cur;
}

static int clean(struct lz_tracer *t)
{
	if ((t->cur->watched || t->cur->returns) && lz_chaos_unwatch(t) < 0)
		return -1;
	if (lz_signal_release_in_call(t) < 0 || lz_fast_undispatch(t) < 0 ||
	    lz_set_clean(t, &t->p, !is_first(t)) < 0 || lz_set_randomized(t, &t->p) < 0 ||
	    lz_set_undumpable(t, &t->p) < 0 || lz_rseq_release(&t->cur->rseq, &t->p) < 0 ||
	    lz_filters_release(t, t->cur, &t->p) < 0 || give_back(t) < 0)
		return -1;
	return restart(t);
}

static int detach_thread(struct lz_tracer *t)
{
	return ptrace(PTRACE_DETACH, t->p.pid, 0, 0) < 0 && errno != ESRCH ? -1 : 0;
}

/* SIGKILL can come in the middle of anything. */
static int unless_killed(struct lz_tracer *t, int ret)
{
	int status;

	if (ret == 0 || !lz_process_gone(t, &status))
		return ret;
	t->ended = true;
	t->status = status;
	return 0;
}

static int for_all(struct lz_tracer *t, int (*step)(struct lz_tracer *t))
{
	for (size_t i = 0; i < t->n_threads && !t->ended; i++) {
		lz_become(t, t->thread[i]);
		if (!t->cur->ended && unless_killed(t, step(t)) < 0)
			return -1;
	}
	return 0;
}

/* Only the first tracer is its process's parent: nobody else hears how it ends. Threads that
 * have been killed are still ours. */
static int wait_for_end(struct lz_tracer *t)
{
	pid_t got;
	int status;

	while (!t->ended) {
		got = waitpid(-1, &status, __WALL | WUNTRACED);
		if (got < 0 && errno == ECHILD)
			t->ended = true;
		else if (got < 0 && errno != EINTR)
			return lz_fail_errno("cannot wait for process %u", t->tid);
		else if (got > 0 && WIFSTOPPED(status)) {
			bool is_free = ptrace(PTRACE_CONT, got, 0, 0) < 0;

			if (is_free && got == (pid_t)t->tid)
				lz_jobs_stopped(t);
		} else if (got == (pid_t)t->tid) {
			t->ended = true;
			t->status = status;
		}
	}
	return 0;
}

/* The one that has the turn: it may have handed that over while it was stopped. */
static int hold_turn(struct lz_tracer *t)
{
	const struct lz_thread *th;

	do {
		if (lz_hand_sync(t) < 0)
			return -1;
		th = t->cur;
		if (t->fast.n_standby && unless_killed(t, stand(t)) < 0)
			return -1;
		if (!t->ended && lz_hand_sync(t) < 0)
			return -1;
	} while (!t->ended && t->cur != th);
	return 0;
}

/* None goes on before all of them can: it might end the process meanwhile. */
int lz_detach(struct lz_tracer *t)
{
	lz_mover_stop(t);
	lz_fast_end(t);
	if (hold_turn(t) < 0 || for_all(t, stand) < 0 || for_all(t, clean) < 0 ||
	    for_all(t, detach_thread) < 0)
		return -1;
	return wait_for_end(t);
}
