/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A marker is not interrupted between its stores: the program is stepped to its end first. */
#include "tracer/log/log.h"
#include "tracer/signals/signals.h"

#include <lizard/error.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* The marker's first store reaches into the guard page as well as into the fence. 1: the buffer
 * was taken. */
static int guard_met(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	if (lz_proc_regs(&t->p, r) < 0)
		return -1;
	return lz_stream_fault(t, (uint64_t)(uintptr_t)info->si_addr, r) == 1
	           ? 1
	           : lz_fail("a marker at %#llx cannot be stored", r->rip);
}

/* A signal that a step within a marker has met, not the step's own trap. 1: the buffer was
 * taken. */
static int met_in_marker(struct lz_tracer *t, int signo, struct user_regs_struct *r)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0)
		return lz_fail_errno("cannot read a signal of the program");
	if (signo == SIGSEGV && lz_signal_synchronous(SIGSEGV, &info))
		return guard_met(t, &info, r);
	if (signo == SIGTRAP && lz_signal_synchronous(SIGTRAP, &info))
		return 0;
	lz_signal_find_sent(t, signo, &info);
	if (lz_signal_keep(t, signo, &info) < 0)
		return -1;
	if (!t->cur->sig.armed)
		lz_signal_await(&t->cur->sig);
	return 0;
}

static int step_marker(struct lz_tracer *t, struct user_regs_struct *r)
{
	uint64_t pointer = r->r15;
	int status, taken;

	for (int i = 0; i < 16 && r->r15 == pointer; i++) {
		if (ptrace(PTRACE_SINGLESTEP, t->p.pid, 0, 0) < 0)
			return lz_fail_errno("cannot step the program");
		if (lz_proc_wait(t->p.pid, &status) < 0)
			return -1;
		if (!WIFSTOPPED(status) || status >> 16) {
			t->cur->pending_status = status;
			t->cur->has_pending_status = true;
			return 0;
		}
		if ((taken = met_in_marker(t, WSTOPSIG(status), r)))
			return taken;
		if (lz_proc_regs(&t->p, r) < 0)
			return -1;
	}
	return 0;
}

int lz_finish_marker(struct lz_tracer *t, struct user_regs_struct *r)
{
	int taken = step_marker(t, r);

	if (taken < 0 || t->cur->has_pending_status)
		return taken;
	return lz_signal_undo_force(t, SIGTRAP) < 0 ? -1 : taken;
}
