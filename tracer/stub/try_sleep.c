/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: sleeps, in a way that changes nothing. */
#include "tracer/stub/patience.h"
#include "tracer/stub/try.h"

#include <sys/syscall.h>
#include <time.h>

/* What is left of a time until an instant. */
INLINE bool set_left(struct attempt *t)
{
	int64_t *const left = t->p->left, now[2];

	if (!t->p->call[SYS_clock_gettime].may ||
	    lz_try_call(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t)now, 0, 0, 0, 0) != 0)
		return false;
	left[0] -= now[0];
	left[1] -= now[1];
	if (left[1] < 0) {
		left[0]--;
		left[1] += BILLION;
	}
	if (left[0] < 0)
		left[0] = left[1] = 0;
	return true;
}

/* By CLOCK, for or until the time at AT. Who sets the clock changes what is left until an instant. */
INLINE bool sleeps_well(struct attempt *t, uint32_t clock, uint32_t flags, uint64_t at)
{
	const volatile int64_t *time = (const volatile int64_t *)at;
	const bool until = flags == TIMER_ABSTIME;

	if (!at || (flags && !until) ||
	    (clock != CLOCK_MONOTONIC && (clock != CLOCK_REALTIME || until)))
		return false;
	t->p->left[0] = time[0];
	t->p->left[1] = time[1];
	return t->p->left[0] >= 0 && (uint64_t)t->p->left[1] < BILLION && (!until || set_left(t)) &&
	       lz_stub_wait(t->p, 0, 0, 0) == 0;
}

uint32_t lz_try_sleep(struct attempt *t)
{
	const uint64_t *a = t->args;
	const bool plain = t->regs[0] == SYS_nanosleep;
	const uint64_t rest_at = plain ? a[1] : a[3];

	if (plain ? !sleeps_well(t, CLOCK_MONOTONIC, 0, a[0])
	          : !sleeps_well(t, (uint32_t)a[0], (uint32_t)a[1], a[2]))
		return LZ_STOP;
	/* the event has it, be it changed or not */
	if (rest_at)
		add(t, rest_at, sizeof(struct timespec));
	return lz_finish_with_pieces(t, 0);
}
