/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process between two tracers: it waits in a pause() with all signals blocked. */
#include "tracer/follow/handover.h"

#include "tracer/state/process.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- parking ---- */

/* Where its tracer is, since it comes to stops only until the next one has it. */
static void stay_here(pid_t pid, cpu_set_t *was)
{
	const int cpu = sched_getcpu();
	cpu_set_t here;

	CPU_ZERO(&here);
	if (sched_getaffinity(pid, sizeof(*was), was) < 0)
		CPU_ZERO(was);
	else if (cpu >= 0) {
		CPU_SET(cpu, &here);
		sched_setaffinity(pid, sizeof(here), &here);
	}
}

/* Once it is let go only a signal that cannot be blocked reaches it. */
int lz_park(struct lz_proc *c, struct lz_parked *was)
{
	uint64_t all = ~0ULL;
	struct user_regs_struct r;
	int64_t ignored;

	was->syscall_insn = c->syscall_insn;
	/* Yama: the next tracer is none */
	was->any_tracer = lz_only_ancestors_trace();
	if (was->any_tracer && lz_proc_syscall(c, &ignored, SYS_prctl, PR_SET_PTRACER,
	                                       PR_SET_PTRACER_ANY, 0, 0, 0, 0) < 0)
		return -1;
	if (lz_proc_regs(c, &was->regs) < 0)
		return -1;
	if (ptrace(PTRACE_GETSIGMASK, c->pid, sizeof(was->mask), &was->mask) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, c->pid, sizeof(all), &all) < 0)
		return lz_fail_errno("cannot change the signal mask of process %d", (int)c->pid);
	r = was->regs;
	r.rip = c->syscall_insn;
	r.rax = SYS_pause;
	r.orig_rax = (uint64_t)-1;
	stay_here(c->pid, &was->affinity);
	return lz_proc_set_regs(c, &r);
}

/* As it was before it was parked. */
static int unpark(const struct lz_proc *p, const struct lz_parked *was)
{
	struct user_regs_struct r = was->regs;

	r.orig_rax = (uint64_t)-1;
	if (CPU_COUNT(&was->affinity))
		sched_setaffinity(p->pid, sizeof(was->affinity), &was->affinity);
	if (lz_proc_set_regs(p, &r) < 0)
		return -1;
	if (ptrace(PTRACE_SETSIGMASK, p->pid, sizeof(was->mask), &was->mask) < 0)
		return lz_fail_errno("cannot restore the signal mask of process %d", (int)p->pid);
	return 0;
}

/* Nobody is there to take it. */
int lz_go_unrecorded(const struct lz_proc *c, const struct lz_parked *was)
{
	lz_warn("process %d goes on unrecorded: %s", (int)c->pid, lz_error());
	if (was && unpark(c, was) < 0)
		return lz_fail_in("process %d could not be let go", (int)c->pid);
	if (ptrace(PTRACE_DETACH, c->pid, 0, 0) < 0)
		return lz_fail_errno("cannot let process %d go", (int)c->pid);
	return 0;
}

/* ---- taking it ---- */

/* SIGSTOP cannot be blocked while a process is parked. What it makes of it must last. */
static int stop(pid_t pid, struct lz_stopped *s)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0)
		return lz_fail_errno("cannot stop process %d", (int)pid);
	for (;;) {
		if (lz_proc_wait(pid, &status) < 0)
			return -1;
		if (!WIFSTOPPED(status))
			return lz_fail("process %d is gone", (int)pid);
		if (status >> 16)
			break;
		s->pending |= WSTOPSIG(status) == SIGSTOP;
		if (ptrace(PTRACE_CONT, pid, 0, 0) < 0)
			return lz_fail_errno("cannot stop process %d", (int)pid);
	}
	s->group = WSTOPSIG(status) != SIGTRAP;
	return 0;
}

void lz_stop_again(pid_t pid, const struct lz_stopped *s)
{
	if (s->pending)
		kill(pid, SIGSTOP);
	if (s->group)
		ptrace(PTRACE_INTERRUPT, pid, 0, 0);
}

int lz_take_parked(struct lz_proc *p, const struct lz_parked *was, struct lz_stopped *s)
{
	if (lz_seize(p->pid) < 0 || stop(p->pid, s) < 0)
		return -1;
	p->syscall_insn = was->syscall_insn;
	return unpark(p, was);
}

int lz_tracers_forget(struct lz_proc *p, const struct lz_parked *was)
{
	int64_t ignored;

	if (!was->any_tracer)
		return 0;
	return lz_proc_syscall(p, &ignored, SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0, 0);
}

/* ---- nobody has come for it ---- */

void lz_kill_parked(pid_t pid)
{
	if (lz_proc_has_ended(pid))
		return; /* somebody else has killed it */
	lz_warn("process %d could not be handed to a tracer of its own and has to be killed: %s",
	        (int)pid, lz_error());
	kill(pid, SIGKILL);
}

void lz_free_parked(pid_t pid, const struct lz_parked *was)
{
	struct lz_proc p = {.pid = pid, .mem = -1};
	struct lz_stopped stopped = {0};
	char why[256];

	snprintf(why, sizeof(why), "%s", lz_error());
	if (lz_take_parked(&p, was, &stopped) < 0 || lz_tracers_forget(&p, was) < 0) {
		lz_kill_parked(pid);
		return;
	}
	lz_stop_again(pid, &stopped);
	lz_fail("%s", why);
	if (lz_go_unrecorded(&p, NULL) < 0)
		lz_debug("%s", lz_error());
}
