/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals to the tracer itself: what it passes on to the program, what it ignores. */
#include "tracer/calls/fast.h"
#include "tracer/memory/objects.h"
#include "tracer/run/run.h"
#include "tracer/state/actions.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

volatile sig_atomic_t lz_alarmed;
static volatile pid_t target; /* 0: nobody */
static bool is_first;         /* the tracer that the user has started, and may end */

static bool asks_to_end(int signo)
{
	return signo == SIGTERM || signo == SIGHUP;
}

/* A signal to the whole process group reaches the program by itself. What one of the group sends
 * counts as such, but for what asks to end: `timeout --foreground` sends that to us alone. */
static bool is_for_program(int signo, const siginfo_t *info)
{
	if (info->si_code > 0 || info->si_pid == target)
		return false;
	/* 0: it is in another PID namespace */
	return !info->si_pid || getpgid(info->si_pid) != getpgrp() ||
	       (is_first && asks_to_end(signo));
}

static void pass_on(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	if (target && is_for_program(signo, info))
		kill(target, signo);
	errno = saved;
}

/* What we have done wrong ourselves ends us. */
static void pass_on_or_die(int signo, siginfo_t *info, void *context)
{
	if (info->si_code > 0 || info->si_pid == getpid()) {
		signal(signo, SIG_DFL);
		raise(signo);
		return;
	}
	pass_on(signo, info, context);
}

static void wake(int signo, siginfo_t *info, void *context)
{
	lz_lease_wanted = lz_notes_wanted = 1;
	if (info->si_code == SI_TIMER)
		lz_alarmed = 1;
	else
		pass_on(signo, info, context);
}

static void handle(int signo, void (*how)(int, siginfo_t *, void *), int flags)
{
	struct sigaction act = {.sa_sigaction = how, .sa_flags = SA_SIGINFO | flags};

	sigaction(signo, &act, NULL);
}

/* Those that the C library has for its threads, as soon as there are some, are not changed. */
static void handle_hidden(void)
{
	struct lz_action like, was;

	lz_action(SIGRTMIN, NULL, &like);
	for (int signo = LZ_SIGNAL_HIDDEN; signo < LZ_SIGNAL_HIDDEN_END; signo++) {
		lz_action(signo, NULL, &was);
		if (was.handler == (uintptr_t)SIG_DFL || was.handler == (uintptr_t)SIG_IGN)
			lz_action(signo, &like, NULL);
	}
}

/* The terminal's signals are for the program: it decides what they do. Those that are sent to us
 * are passed on. None ends us that the program may survive. */
void lz_set_signals(pid_t pid, bool first)
{
	struct sigaction waited = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	/* The kernel sends some of these to us, too: nobody need read what we say, what has no
	 * room in its file is an error, and time that we have used is not the program's. */
	static const int passed[] = {SIGTERM, SIGHUP,  SIGINT,  SIGQUIT,   SIGUSR1, SIGUSR2,
	                             SIGALRM, SIGIO,   SIGPWR,  SIGVTALRM, SIGPROF, SIGURG,
	                             SIGPIPE, SIGXFSZ, SIGXCPU, SIGSTKFLT, SIGWINCH};
	static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

	sigset_t none;

	target = pid;
	is_first = first;
	sigaction(SIGCHLD, &waited, NULL); /* no signal for a stop: it is waited for */
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		handle(passed[i], pass_on, SA_RESTART);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		handle(faults[i], pass_on_or_die, SA_RESTART);
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		handle(signo, pass_on, SA_RESTART);
	handle_hidden();
	/* no call is made again after it: waitpid() is to return */
	handle(LZ_WAKE, wake, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void lz_signals_done(void)
{
	target = 0;
}
