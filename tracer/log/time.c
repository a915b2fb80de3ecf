/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What time it is for the recording, and how much the program has computed. */
#include "tracer/log/log.h"

#include <time.h>

uint64_t lz_elapsed(const struct lz_tracer *t)
{
	return lz_now() - t->t0;
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
