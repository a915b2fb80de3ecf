/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What time it is for the recording, and how much the program has computed. */
#include "tracer/log/log.h"

#include <time.h>

static uint64_t stop_now; /* 0: not asked for yet */

uint64_t lz_stop_now(void)
{
	if (!stop_now)
		stop_now = lz_now();
	return stop_now;
}

void lz_stop_time_over(void)
{
	stop_now = 0;
}

uint64_t lz_elapsed(const struct lz_tracer *t)
{
	if (lz_stop_now() < t->t0)
		lz_stop_time_over();
	return lz_stop_now() - t->t0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts = {0};

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Of the tracer's thread, which the program waits for; what others do on the machine is not
 * ours. */
uint64_t lz_tracer_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t lz_program_time(const struct lz_tracer *t)
{
	/* clock_getcpuclockid() would try the clock first. */
	return clock_ns((clockid_t)(~t->tid << 3 | 2));
}
