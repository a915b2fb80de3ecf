/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that end after some CPU time, wherever the program is then. The process has an alarm of its
 * own: it comes in time even if the caller does not get the CPU. */
#include "replayer/engine/inside.h"
#include <lizard/restore.h>
#include <string.h>
#include <time.h>

enum { EARLY = 2, LONGEST_NS = 100000000 };

uint64_t lz_engine_cpu_ns(const struct lz_engine *e)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(e->proc.pid, &clock) || clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int lz_engine_set_slice(struct lz_engine *e)
{
	struct lz_engine_slice *s = &e->slice;

	if (s->ns != e->want.cpu_ns) {
		s->ns = s->alarm_ns = e->want.cpu_ns;
		s->begin_ns = lz_engine_cpu_ns(e);
	}
	if (s->set_ns != s->alarm_ns) {
		if (lz_engine_leave_call(e) < 0 || lz_engine_flush(e) < 0 ||
		    lz_stub_alarm(&e->proc, s->alarm_ns) < 0)
			return -1;
		s->set_ns = s->alarm_ns;
	}
	if (s->ns)
		s->regs = e->regs;
	return 0;
}

bool lz_engine_slice_is_over(struct lz_engine *e)
{
	struct lz_engine_slice *s = &e->slice;

	if (!s->ns)
		return false;
	uint64_t now = lz_engine_cpu_ns(e);
	/* it came before the process had the CPU, and might again and again */
	if (!memcmp(&s->regs, &e->regs, sizeof s->regs)) {
		s->begin_ns = now;
		if (++s->too_early % EARLY == 0 && s->alarm_ns < LONGEST_NS)
			s->alarm_ns *= 2;
		return false;
	}
	s->alarm_ns = s->ns;
	s->too_early = 0;
	if (now - s->begin_ns < s->ns / 2)
		return false;
	s->begin_ns = now;
	return true;
}
