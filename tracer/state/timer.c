/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer's timer. Its signal is one that queues: what others send is never lost in a tick. */
#include "tracer/state/state.h"

#include <lizard/error.h>
#include <signal.h>
#include <time.h>

int lz_timer_set(long ms)
{
	static timer_t timer;
	static bool made;
	struct sigevent wake = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = LZ_WAKE};
	const struct timespec every = {ms / 1000, ms % 1000 * 1000000};
	const struct itimerspec it = {every, every};

	made = made || timer_create(CLOCK_MONOTONIC, &wake, &timer) == 0;
	if (!made || timer_settime(timer, 0, &it, NULL) < 0)
		return lz_fail_errno("cannot set a timer");
	return 0;
}
