/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer's timer. Its signal is one that queues: what others send is never lost in a tick. */
#include "tracer/state/state.h"

#include <lizard/error.h>
#include <signal.h>
#include <time.h>

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

int lz_timer_set(uint64_t first, uint64_t every)
{
	static timer_t timer;
	static bool made;
	struct sigevent wake = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = LZ_WAKE};
	const struct itimerspec it = {time_of(every), time_of(first)};

	made = made || timer_create(CLOCK_MONOTONIC, &wake, &timer) == 0;
	if (!made || timer_settime(timer, 0, &it, NULL) < 0)
		return lz_fail_errno("cannot set a timer");
	return 0;
}
