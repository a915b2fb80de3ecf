/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a call may wait. */
#ifndef LIZARD_TRACER_PATIENCE_H
#define LIZARD_TRACER_PATIENCE_H

#include "tracer/stub/stub.h"

enum { MILLION = 1000000, BILLION = 1000000000, MS = 1000 };

/* How a call may wait. */
struct patience {
	bool none;         /* not at all */
	uint64_t fraction; /* the units of its time in a second */
	uint64_t masked;   /* where the signals are that are blocked meanwhile; 0: those of ever */
	int64_t limit[2];  /* seconds and nanoseconds; LZ_NO_LIMIT */
};

/* For so many ms, without a time in memory, and without a mask. */
INLINE void set_patience(struct patience *w, int32_t limit)
{
	w->none = !limit;
	w->fraction = 1;
	w->masked = 0;
	w->limit[0] = limit < 0 ? LZ_NO_LIMIT : limit / MS;
	w->limit[1] = limit < 0 ? 0 : limit % MS * MILLION;
}

/* A time at AT, with FRACTION units in a second; false: let the kernel complain. */
INLINE bool read_time(struct patience *w, uint64_t at, uint64_t fraction)
{
	const volatile int64_t *time = (const volatile int64_t *)at;

	w->none = false;
	w->limit[0] = LZ_NO_LIMIT;
	w->fraction = fraction;
	if (!at)
		return true;
	const int64_t seconds = time[0], part = time[1];
	w->none = !seconds && !part;
	w->limit[0] = seconds;
	w->limit[1] = part * (int64_t)(BILLION / fraction);
	return seconds >= 0 && part >= 0 && (uint64_t)part < fraction;
}

#endif
