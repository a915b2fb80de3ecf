/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time without the kernel, in the stub: by the vDSO's own code, where the tracer has put that. */
#ifndef LIZARD_TRACER_STUB_CLOCK_H
#define LIZARD_TRACER_STUB_CLOCK_H

#include "tracer/stub/descriptors.h"

#include <sys/prctl.h>
#include <time.h>

/* May this thread read the processor's counter? The kernel asks the hypervisor, in a virtual machine,
 * so it stays so. */
INLINE bool is_open(struct lz_call_page *p)
{
	if (!p->clock)
		return false;
	if (p->open)
		return true;
	/* the tracer may look meanwhile */
	*(volatile uint32_t *)&p->open = 1;
	if (call4(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0) != 0)
		p->open = 0;
	else if (!*(volatile uint64_t *)&p->clock)
		p->open = call4(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0) != 0;
	return p->open;
}

/* The vDSO makes a system call for all others. */
INLINE bool is_told(uint64_t clock)
{
	const uint32_t told = 1 << CLOCK_REALTIME | 1 << CLOCK_MONOTONIC |
	                      1 << CLOCK_MONOTONIC_RAW | 1 << CLOCK_REALTIME_COARSE |
	                      1 << CLOCK_MONOTONIC_COARSE | 1 << CLOCK_BOOTTIME | 1 << CLOCK_TAI;

	return clock <= CLOCK_TAI && told >> clock & 1;
}

INLINE bool tell(struct lz_call_page *p, uint64_t clock, int64_t now[2])
{
	int (*const function)(int, int64_t *) = (int (*)(int, int64_t *))p->clock;

	return is_told(clock) && is_open(p) && function((int)clock, now) == 0;
}

/* The time has been stored at AT. */
INLINE int64_t told(uint64_t at, int64_t seconds, int64_t rest)
{
	((volatile int64_t *)at)[0] = seconds;
	((volatile int64_t *)at)[1] = rest;
	return 0;
}

/* NR_ARGS: the number and the arguments of a call of LZ_RULE_CLOCK. */
INLINE int64_t read_clock(struct lz_call_page *p, const uint64_t *nr_args)
{
	enum { NS_IN_US = 1000 };
	const uint64_t *args = nr_args + 1;
	int64_t now[2];

	switch (nr_args[0]) {
	case SYS_clock_gettime:
		if (!args[1] || !tell(p, args[0], now))
			break;
		return told(args[1], now[0], now[1]);
	case SYS_gettimeofday:
		if (!args[0] || args[1] || !tell(p, CLOCK_REALTIME, now))
			break;
		return told(args[0], now[0], (int64_t)((uint32_t)now[1] / NS_IN_US));
	case SYS_time:
		if (!tell(p, CLOCK_REALTIME_COARSE, now))
			break;
		if (args[0])
			*(volatile int64_t *)args[0] = now[0];
		return now[0];
	}
	return make(nr_args);
}

#endif
