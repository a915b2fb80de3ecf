/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Going to a position: gap by markers and events, then arrivals at the address. */
#include "replayer/engine/engine.h"
#include <lizard/error.h>

static int run_to_gap(struct lz_engine *e, uint64_t event, uint64_t marker)
{
	struct lz_halt h;

	e->want.ip = 0;
	while (e->event < event || e->marker < marker) {
		if (e->event > event || e->marker > marker)
			return 1;
		e->want.marker = e->event == event ? marker : UINT64_MAX;
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (h.flags & (LZ_HALT_DIVERGED | LZ_HALT_END))
			return 1;
		if (h.flags & LZ_HALT_EVENT) {
			if (e->event == event)
				return 1;
			if (lz_engine_apply(e, NULL) < 0)
				return -1;
		}
	}
	e->want.marker = UINT64_MAX;
	return e->event == event && e->marker == marker ? 0 : 1;
}

int lz_engine_to_gap(struct lz_engine *e, uint64_t event, uint64_t marker)
{
	e->calls.until = event;
	int ret = run_to_gap(e, event, marker);
	e->calls.until = 0;
	return lz_engine_calls_off(e) < 0 ? -1 : ret;
}

int lz_engine_to_arrival(struct lz_engine *e, uint64_t ip, uint32_t n, uint32_t seen)
{
	uint64_t event = e->event, marker = e->marker;
	bool kernel = lz_engine_in_kernel(e);
	int ret = 0;

	e->want.ip = ip;
	e->want.marker = lz_engine_next_kept(e, marker);
	while (!ret && seen < n) {
		struct lz_halt h;
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			ret = 2;
		else if (e->event != event || e->marker != marker)
			ret = 1;
		else if (h.flags & LZ_HALT_EXEC)
			seen++;
		/* at the end of the recording its last address may be arrived at as well */
		else if (h.flags & LZ_HALT_END && e->regs.rip == ip && seen + 1 == n)
			seen++;
		else if (h.flags & (LZ_HALT_EVENT | LZ_HALT_END | LZ_HALT_DIVERGED))
			ret = h.flags & LZ_HALT_EVENT && e->regs.rip == ip && !e->in_call &&
			              !kernel && seen + 1 == n
			          ? 0
			          : 1;
		if (!ret && h.flags & LZ_HALT_EVENT)
			break;
	}
	e->want.ip = 0;
	e->want.marker = UINT64_MAX;
	return ret ? ret : lz_engine_settle(e);
}

int64_t lz_engine_count_to_event(struct lz_engine *e, uint64_t ip, int64_t limit)
{
	int64_t n = e->regs.rip == ip;
	struct lz_halt h;

	do {
		e->want.ip = n > limit ? 0 : ip;
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return lz_fail("interrupted");
		if (!(h.flags & (LZ_HALT_EVENT | LZ_HALT_EXEC)))
			return lz_fail("event %lu is not reached", (unsigned long)e->event);
		if (h.flags & LZ_HALT_EXEC)
			n++;
	} while (!(h.flags & LZ_HALT_EVENT));
	e->want.ip = 0;
	if (n > limit)
		return LZ_MANY;
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	return n + (ev && lz_event_arrives(ev));
}

int64_t lz_engine_count_in_gap(struct lz_engine *e, uint64_t ip)
{
	uint64_t marker = e->marker;
	int64_t n = e->regs.rip == ip;
	struct lz_halt h;

	e->want.ip = ip;
	e->want.marker = lz_engine_next_kept(e, marker);
	for (;;) {
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return lz_fail("interrupted");
		if (h.flags & LZ_HALT_DIVERGED)
			return lz_fail("replay diverged: %s", e->rp->divergence);
		if (e->marker != marker || h.flags & (LZ_HALT_EVENT | LZ_HALT_END))
			return n;
		n += !!(h.flags & LZ_HALT_EXEC);
	}
}
