/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job control. Ctrl-Z is for the program, as other keys are: if it stops, or has stopped itself,
 * the shell has to see that its job, this process, has stopped.
 *
 * Only where this process is the job's leader in the foreground, as an interactive shell starts
 * it: others who wait for us do not expect a stop, and who lets the program go on would not
 * think of us. */
#include "tracer/state/state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static bool leads_foreground(void)
{
	int tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	bool leads = tty >= 0 && getpgrp() == getpid() && tcgetpgrp(tty) == getpgrp();

	if (tty >= 0)
		close(tty);
	return leads;
}

void lz_jobs_begin(void)
{
	if (leads_foreground())
		signal(SIGTSTP, SIG_IGN);
}

void lz_jobs_stopped(const struct lz_tracer *t)
{
	siginfo_t next = {0};

	if (t->meta.parent || !leads_foreground())
		return;
	/* It goes on already, or is gone. */
	if (waitid(P_PID, (id_t)t->p.pid, &next, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) ==
	        0 &&
	    next.si_pid)
		return;
	signal(SIGTSTP, SIG_DFL);
	/* until the shell lets the job go on; nothing happens where no shell could */
	raise(SIGTSTP);
	signal(SIGTSTP, SIG_IGN);
}
