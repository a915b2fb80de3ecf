/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process runs, and the program's system calls are stops. Two ways: each call is emulated
 * (PTRACE_SYSEMU); or the kernel bars all calls but those at one instruction (lz_proc_bar()). By that
 * one the stub changes mappings. What else comes to it is left to the filter. */
#include "replayer/engine/calls.h"
#include <lizard/error.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#ifndef PTRACE_SYSEMU
#define PTRACE_SYSEMU 31
#define PTRACE_SYSEMU_SINGLESTEP 32
#endif
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

int lz_calls_resume(struct lz_engine *e, bool step)
{
	const bool bar = !step && e->calls.c && e->calls.c->maps;

	if (lz_proc_bar(&e->proc, bar) < 0 || lz_engine_flush(e) < 0)
		return -1;
	e->in_call = e->calls.barred = false;
	if (ptrace(bar    ? PTRACE_CONT
	           : step ? PTRACE_SYSEMU_SINGLESTEP
	                  : PTRACE_SYSEMU,
	           e->proc.pid, 0, 0) < 0)
		return lz_fail_errno("cannot resume the replay process");
	return 0;
}

/* One that was barred leaves the registers as they were before it. */
int lz_calls_stopped(struct lz_engine *e, int *status)
{
	siginfo_t info;

	if (lz_proc_regs(&e->proc, &e->regs) < 0)
		return -1;
	if (WSTOPSIG(*status) != SIGSYS || !e->proc.stub->barred)
		return 0;
	if (ptrace(PTRACE_GETSIGINFO, e->proc.pid, 0, &info) < 0)
		return lz_fail_errno("cannot ask why the replay process stopped");
	if (info.si_code != SYS_USER_DISPATCH)
		return 0;
	e->calls.barred = true;
	e->regs.rax = (uint64_t)-ENOSYS;
	e->regs_dirty = true;
	*status = (SIGTRAP | 0x80) << 8 | 0x7f;
	return 0;
}
