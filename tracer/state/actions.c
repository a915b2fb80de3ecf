/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/state/actions.h"

#include <lizard/error.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void lz_action(int signo, const struct lz_action *now, struct lz_action *was)
{
	if (syscall(SYS_rt_sigaction, signo, now, was, sizeof(uint64_t)) < 0)
		lz_debug("the action of signal %d stays", signo);
}

void lz_ignore(int signo)
{
	lz_action(signo, &(struct lz_action){.handler = (uintptr_t)SIG_IGN}, NULL);
}

void lz_block(uint64_t signals)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &signals, NULL, sizeof(signals));
}
