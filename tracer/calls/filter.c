/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of a call that the program's own filters have judged. */
#include "tracer/calls/filter.h"

#include "tracer/calls/calls.h"
#include "tracer/filters/filters.h"
#include "tracer/signals/signals.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"

#include <common/process/vdso.h>
#include <errno.h>
#include <linux/audit.h>
#include <lizard/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SYS_SECCOMP_ = 1 /* si_code */, MOST_ERRNO = 4095 };

static struct seccomp_data data_of(const struct lz_call *c, const struct user_regs_struct *r)
{
	struct seccomp_data d = {.nr = (int)c->nr,
	                         .arch = c->int80 ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64,
	                         .instruction_pointer = c->ip};
	const uint64_t old[6] = {r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp};

	for (int i = 0; i < 6; i++)
		d.args[i] = c->int80 ? (uint32_t)old[i] : c->args[i];
	return d;
}

static uint32_t judge(struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct seccomp_data d = data_of(&t->cur->call, r);

	if (!t->cur->strict)
		return lz_filter_judge(t->cur->filter, &d);
	return lz_thread_may_call(t->cur, (uint32_t)d.nr) ? SECCOMP_RET_ALLOW
	                                                  : SECCOMP_RET_KILL_THREAD;
}

static uint32_t action_of(const struct lz_call *c)
{
	return c->verdict & SECCOMP_RET_ACTION_FULL;
}

/* Does the kernel's vDSO tell what this call does? With TSC: by the time-stamp counter, too. */
static bool vdso_tells(const struct lz_call *c, bool tsc)
{
	switch (c->nr) {
	case SYS_time:
	case SYS_getcpu: return true;
	case SYS_gettimeofday: return tsc;
	case SYS_clock_getres: tsc = true; break;
	case SYS_clock_gettime: break;
	default: return false;
	}
	switch (c->args[0]) {
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC_COARSE: return true;
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI: return tsc;
	}
	return false;
}

/* Filters do not see what the kernel's vDSO does, for which ours makes a call. The strict mode
 * forbids the counter. */
static bool is_vdso(const struct lz_tracer *t, const struct lz_call *c)
{
	if (c->int80 || !vdso_tells(c, !t->cur->strict))
		return false;
	const ptrdiff_t i = lz_vmas_find(&t->vmas, c->ip);

	return i >= 0 && lz_vdso_was(&t->p, &t->vmas.a[i].v);
}

bool lz_filter_call(struct lz_tracer *t, const struct user_regs_struct *r, int64_t *result)
{
	struct lz_call *c = &t->cur->call;
	int64_t error;

	if ((!t->cur->filter && !t->cur->strict) || is_vdso(t, c))
		return false;
	c->verdict = judge(t, r);
	switch (action_of(c)) {
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ALLOW: return false;
	case SECCOMP_RET_ERRNO:
		error = c->verdict & SECCOMP_RET_DATA;
		*result = -(error < MOST_ERRNO ? error : MOST_ERRNO);
		break;
	case SECCOMP_RET_USER_NOTIF:
	case SECCOMP_RET_TRACE: *result = -ENOSYS; break;
	default: *result = (int64_t)r->orig_rax;
	}
	c->filtered = true;
	/* as the kernel does it, without a signal that anybody could see */
	if (t->cur->strict && t->n_threads == 1)
		syscall(SYS_tgkill, t->tid, t->cur->tid, SIGKILL);
	return true;
}

bool lz_filter_ends_thread(const struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	return c->filtered && action_of(c) == SECCOMP_RET_KILL_THREAD && t->n_threads > 1;
}

static bool kills(const struct lz_call *c)
{
	switch (action_of(c)) {
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_USER_NOTIF:
	case SECCOMP_RET_TRACE:
	case SECCOMP_RET_TRAP: return false;
	}
	return true; /* an action that is not known, too */
}

/* The program's handler is not asked. */
static int make_fatal(struct lz_tracer *t)
{
	const struct lz_disposition none = {0};
	const uint64_t at = lz_scratch(t, &t->p);
	int64_t ret;

	t->act[SIGSYS] = none;
	t->cur->sig.blocked &= ~(1ULL << (SIGSYS - 1));
	if (lz_proc_write(&t->p, at, &none, sizeof(none)) < 0 ||
	    lz_proc_syscall(&t->p, &ret, SYS_rt_sigaction, SIGSYS, at, 0, 8, 0, 0) < 0)
		return -1;
	if (ptrace(PTRACE_SETSIGMASK, t->p.pid, sizeof(t->cur->sig.blocked), &t->cur->sig.blocked) <
	    0)
		return lz_fail_errno("cannot change the program's signal mask");
	return 0;
}

int lz_filter_signal(struct lz_tracer *t)
{
	struct lz_call *c = &t->cur->call;

	if (!c->filtered || (!kills(c) && action_of(c) != SECCOMP_RET_TRAP))
		return 0;
	const bool blocked = t->cur->sig.blocked >> (SIGSYS - 1) & 1;

	if ((kills(c) || blocked || lz_signal_handler(t, SIGSYS) <= 1) && make_fatal(t) < 0)
		return -1;
	/* nothing comes before it */
	t->sched.point = false;
	t->cur->fast = false;
	return SIGSYS;
}

bool lz_filter_signalled(struct lz_tracer *t, int signo, siginfo_t *info)
{
	struct lz_call *c = &t->cur->call;

	if (signo != SIGSYS || !c->filtered || c->inside || info->si_code != SI_KERNEL)
		return false;
	c->filtered = false;
	memset(info, 0, sizeof(*info));
	info->si_signo = SIGSYS;
	info->si_code = SYS_SECCOMP_;
	info->si_errno = (int)(c->verdict & SECCOMP_RET_DATA);
	info->si_call_addr = (void *)(uintptr_t)c->ip; // NOLINT: an address of the program
	info->si_syscall = (int)c->nr;
	info->si_arch = c->int80 ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64;
	return true;
}
