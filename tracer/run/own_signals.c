/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals to the tracer itself: what it passes on to the program, what it ignores. */
#include "tracer/run/run.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

volatile sig_atomic_t lz_alarmed;
static volatile pid_t target;

static void on_alarm(int signo)
{
	(void)signo;
	lz_alarmed = 1;
}

static void pass_on(int signo)
{
	int saved = errno;

	kill(target, signo);
	errno = saved;
}

/* Who is in our process group, the program before all, will have sent it to the whole group. */
static void pass_on_from_outside(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	/* 0: it is in another PID namespace */
	if (info->si_code <= 0 && (!info->si_pid || getpgid(info->si_pid) != getpgrp()))
		kill(target, signo);
	errno = saved;
}

/* The terminal's signals are for the program: it decides what they do. Those that are sent to us
 * are passed on: what asks to end in any case, others if they are not for the group. */
void lz_set_signals(pid_t pid)
{
	struct sigaction wake = {.sa_handler = on_alarm}, ignore = {.sa_handler = SIG_IGN};
	struct sigaction pass = {.sa_handler = pass_on};
	struct sigaction outside = {.sa_sigaction = pass_on_from_outside,
	                            .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction waited = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	static const int others[] = {SIGINT,    SIGQUIT, SIGUSR1, SIGUSR2,
	                             SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};

	target = pid;
	sigaction(SIGCHLD, &waited, NULL); /* no signal for a stop: it is waited for */
	sigaction(SIGTERM, &pass, NULL);
	sigaction(SIGHUP, &pass, NULL);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		sigaction(others[i], &outside, NULL);
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		sigaction(signo, &outside, NULL);

	sigaction(SIGALRM, &wake, NULL);
	sigaction(SIGPIPE, &ignore, NULL); /* nobody need read what we say */
	sigaction(SIGXFSZ, &ignore, NULL); /* what has no room in its file is an error */
}
