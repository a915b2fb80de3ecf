/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/base/clock.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

uint64_t lz_now(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static _Thread_local bool forgone;
static struct sigaction before;

static bool reads_counter(const ucontext_t *at)
{
	const uint8_t *insn = (const uint8_t *)at->uc_mcontext.gregs[REG_RIP];

	return memcmp(insn, "\x0f\x31", 2) == 0 || memcmp(insn, "\x0f\x01\xf9", 3) == 0;
}

/* The kernel tells of a trapped rdtsc as of a privileged instruction. It is executed again on
 * return. */
static void on_fault(int signo, siginfo_t *info, void *context)
{
	int mode = PR_TSC_ENABLE;

	if (info->si_code == SI_KERNEL && prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV &&
	    reads_counter(context) && prctl(PR_SET_TSC, PR_TSC_ENABLE) == 0) {
		forgone = false;
		return;
	}
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(signo, info, context);
		return;
	}
	sigaction(signo, &before, NULL);
	if (info->si_code <= 0) /* no instruction will do it again */
		raise(signo);
}

static void watch(void)
{
	struct sigaction old,
	    fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGSEGV);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	/* what another thread has just set is not what was before */
	sigaction(SIGSEGV, &fault, &old);
	if (!(old.sa_flags & SA_SIGINFO) || old.sa_sigaction != on_fault)
		before = old;
}

bool lz_counter_allow(bool allow)
{
	bool could = !forgone;

	if (allow == could)
		return could;
	if (!allow)
		watch();
	if (prctl(PR_SET_TSC, allow ? PR_TSC_ENABLE : PR_TSC_SIGSEGV) == 0)
		forgone = !allow;
	return could;
}
