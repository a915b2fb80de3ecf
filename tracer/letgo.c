/* Recording has failed: the program goes on by itself. */
#include "tracer/tracer.h"

#include <errno.h>
#include <lizard/error.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int gone(struct lz_tracer *t, int status)
{
	if (t->cur->tid == t->tid) {
		t->ended = true;
		t->status = status;
	}
	return -1;
}

/* At the exit of a call that we have interrupted: not every one is made again by itself. */
static void left_call(struct lz_tracer *t)
{
	struct user_regs_struct r;

	t->cur->call.inside = false;
	t->cur->call.suspended = lz_proc_regs(&t->p, &r) == 0 && (int64_t)r.rax == -EINTR;
}

/* At a stop of the current thread where calls can be made for it. */
static int leave_call(struct lz_tracer *t)
{
	struct lz_call *c = &t->cur->call;
	int status;

	if (!c->inside)
		return 0;
	if (ptrace(PTRACE_SYSCALL, t->p.pid, 0, 0) < 0)
		return -1;
	if (lz_sched_threaded(t) && lz_call_waits(c)) /* others may have to end its wait */
		ptrace(PTRACE_INTERRUPT, t->p.pid, 0, 0);
	if (lz_wait(t->p.pid, &status) < 0)
		return -1;
	if (!WIFSTOPPED(status))
		return gone(t, status);
	if (WSTOPSIG(status) != (SIGTRAP | 0x80))
		return -1;
	c->inside = false;
	if (lz_sched_threaded(t) && c->row)
		left_call(t);
	return 0;
}

/* Recording may fail while the thread runs. */
static int halt(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	int status;

	if (!cur->running)
		return 0;
	if (ptrace(PTRACE_INTERRUPT, t->p.pid, 0, 0) < 0 || lz_wait(t->p.pid, &status) < 0)
		return -1;
	cur->running = false;
	if (!WIFSTOPPED(status))
		return gone(t, status);
	if (status >> 16)
		return 0;
	if (WSTOPSIG(status) == (SIGTRAP | 0x80) && cur->call.inside)
		left_call(t);
	else if (WSTOPSIG(status) == (SIGTRAP | 0x80))
		cur->call.inside = true;
	else if (lz_signal_hold_stop(t, WSTOPSIG(status)) < 0)
		return -1;
	return 0;
}

/* Where another thread than the one with the turn stands. */
static int halt_aside(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;

	if (!cur->ready) {
		cur->running = true;
		if (halt(t) < 0)
			return -1;
		if (!cur->halted)
			return 0;
	}
	if (!cur->has_pending_status || cur->pending_status >> 16)
		return 0;
	if (WSTOPSIG(cur->pending_status) == (SIGTRAP | 0x80))
		cur->call.inside = false;
	else if (lz_signal_hold_stop(t, WSTOPSIG(cur->pending_status)) < 0)
		return -1;
	return 0;
}

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

static int release(struct lz_tracer *t, bool first)
{
	if (t->cur->watched && lz_chaos_unwatch(t) < 0)
		return -1;
	if (lz_signal_release_in_call(t) < 0 || lz_set_clean(t, &t->p, !first) < 0 ||
	    restart(t) < 0 || ptrace(PTRACE_DETACH, t->p.pid, 0, 0) < 0)
		return -1;
	return 0;
}

/* Only the first tracer is its process's parent: nobody else hears how it ends. */
static int wait_for_end(struct lz_tracer *t)
{
	pid_t got;

	do {
		got = waitpid((pid_t)t->tid, &t->status, __WALL);
	} while (got < 0 && errno == EINTR);
	if (got < 0 && errno != ECHILD)
		return lz_fail_errno("cannot wait for process %u", t->tid);
	t->ended = true;
	return 0;
}

int lz_let_go(struct lz_tracer *t)
{
	struct lz_thread *turn = t->cur;
	bool first = true;

	if (!turn->ended && (halt(t) < 0 || leave_call(t) < 0))
		return t->ended ? 0 : -1;
	for (size_t i = 0; i < t->n_threads; i++) {
		lz_become(t, t->thread[i]);
		if (t->cur != turn && halt_aside(t) < 0)
			return t->ended ? 0 : -1;
	}
	for (size_t i = 0; i < t->n_threads; i++) {
		lz_become(t, t->thread[i]);
		if (t->cur->ended)
			continue;
		if (release(t, first) < 0)
			return -1;
		first = false;
	}
	return wait_for_end(t);
}
