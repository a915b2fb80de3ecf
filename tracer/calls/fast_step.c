/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call that the stub has refused has two stops, not three.
 *
 * The SIGSYS that reports it stands for the stop at its entry. The call is then made by a single
 * step: that reports no entry, and has its trap where the stop at the exit would be. The trap is
 * forced, so it comes before any other signal, as that stop does. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/signals/signals.h"
#include "tracer/state/state.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { ERESTARTNOINTR = 513, TRAP_FLAG = 0x100 };

/* The trap would change what a call does to signals. */
static bool is_of_signals(const struct user_regs_struct *r)
{
	switch (r->rax) {
	case SYS_rt_sigprocmask:
	case SYS_rt_sigaction:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigtimedwait:
	case SYS_prctl: return true;
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2: return r->r10 || r->r8;
	case SYS_pselect6: return r->r9;
	default: return false;
	}
}

static bool is_steppable(const struct user_regs_struct *r)
{
	const struct lz_syscall *row = lz_syscall(r->rax);

	if (!row || is_of_signals(r))
		return false;
	return row->klass == LZ_SC_WAIT || row->klass == LZ_SC_WRITE || row->klass == LZ_SC_MAP ||
	       lz_fast_may(r->rax);
}

/* The trap would be forced past a mask, and past an action that the program has lost then. */
static bool is_trap_free(const struct lz_tracer *t)
{
	return !(t->cur->sig.blocked >> (SIGTRAP - 1) & 1) &&
	       lz_signal_handler(t, SIGTRAP) != (uint64_t)(uintptr_t)SIG_IGN;
}

/* Does the instruction become no jump before the thread runs? It would step that. */
static bool site_stays(struct lz_tracer *t, const struct user_regs_struct *r)
{
	const uint64_t args[] = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9};

	return lz_fast_site_stays(t, r->rip) || lz_fast_never(r->rax, args);
}

/* What a filter has decided may be a signal, which this stop cannot send. */
static bool may_step(struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct lz_thread *cur = t->cur;

	return !t->fast.ended && !t->exec_pending && !cur->call.suspended && !cur->filter &&
	       !cur->strict && !(r->eflags & TRAP_FLAG) && lz_signal_none_due(cur) &&
	       is_trap_free(t) && is_steppable(r) && site_stays(t, r);
}

static bool gives_little(const struct lz_call *c)
{
	enum { LITTLE = 4096 };

	switch (c->nr) {
	case SYS_read:
	case SYS_recvfrom:
	case SYS_epoll_wait:
	case SYS_epoll_pwait: return c->args[2] <= LITTLE;
	default: return false;
	}
}

/* The call is about to wait while another thread is ready. Its output is taken down now: later it would
 * have to be asked once more whether it still waits. */
static int take_early(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	return c->would_wait && lz_call_waits(c) && lz_sched_ready(t) && gives_little(c)
	           ? lz_blocked_take(t)
	           : 0;
}

int lz_step_begin(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct user_regs_struct e = *r;

	if (!may_step(t, r))
		return 0;
	/* it has no stop more than others */
	t->cur->refused_at = 0;
	e.rip += LZ_CALL_INSN;
	e.orig_rax = r->rax;
	e.rax = (uint64_t)-ENOSYS;
	if (lz_call_entry(t, &e) < 0)
		return -1;
	/* what the entry has made of it */
	e.rip -= LZ_CALL_INSN;
	e.rax = e.orig_rax;
	e.orig_rax = (uint64_t)-1;
	t->cur->call.stepped = true;
	t->cur->call.would_wait = lz_fast_try(r->rax);
	if (take_early(t) < 0)
		return -1;
	t->fast.n_stepped++;
	return lz_proc_set_regs(&t->p, &e) < 0 ? -1 : 1;
}

/* A signal has come before the call was made: it is made behind the handler. */
static int not_yet(struct lz_tracer *t)
{
	struct lz_call *c = &t->cur->call;
	struct user_regs_struct r = c->entry;

	r.rax = (uint64_t)-ERESTARTNOINTR;
	c->inside = false;
	c->suspended = true;
	t->cur->wait_cut |= c->shortened;
	return lz_proc_set_regs(&t->p, &r) < 0 ? -1 : lz_instant_here(t, &r);
}

/* A part has been written, so that is what the call gives. */
static int only_part(struct lz_tracer *t, int *status)
{
	struct user_regs_struct r = t->cur->call.entry;
	const int signo = WSTOPSIG(*status);

	r.rax = (uint64_t)-EINTR;
	*status = (SIGTRAP | 0x80) << 8 | 0x7f;
	return lz_proc_set_regs(&t->p, &r) < 0 ? -1 : lz_signal_put_back(t, signo);
}

int lz_step_stopped(struct lz_tracer *t, int *status)
{
	struct lz_call *c = &t->cur->call;
	struct user_regs_struct r;
	siginfo_t info;

	if (!c->stepped || !WIFSTOPPED(*status) || *status >> 16)
		return 0;
	c->stepped = false;
	if (lz_proc_regs(&t->p, &r) < 0 || ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0)
		return 0; /* killed */
	if (r.rip != c->ip)
		return c->part ? only_part(t, status) : not_yet(t);
	/* a SIGTRAP of somebody's was there before the trap, and stands for both */
	if (!lz_signal_synchronous(SIGTRAP, &info) && lz_signal_put_back(t, WSTOPSIG(*status)) < 0)
		return -1;
	*status = (SIGTRAP | 0x80) << 8 | 0x7f;
	/* the instruction has put its own flags there */
	r.r11 &= ~(uint64_t)TRAP_FLAG;
	return lz_proc_set_regs(&t->p, &r) < 0 ? -1 : lz_signal_undo_force(t, SIGTRAP);
}
