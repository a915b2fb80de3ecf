/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/interval.h"
#include "replayer/navigate/back_windows.h"
#include "replayer/navigate/nav.h"
#include "replayer/stream/target.h"
#include <lizard/error.h>
#include <time.h>

enum {
	/* for each byte of markers, where the machine code is asked: so long until it was measured */
	LOOSE_NS = 8,
	LOOSE_BYTES = 1 << 20,
	RESTORE_NS = 5000000
};

/* ---- where they begin ---- */

/* The first block that begins behind OFFSET; blocks begin at boundaries, also where their markers
 * have to be computed. */
static uint64_t next_block(struct lz_session *s, uint64_t offset)
{
	struct lz_reader *r = s->rp.reader;
	const uint32_t i = lz_reader_block_of(r, s->rp.tid, offset);
	uint64_t start, len;

	return lz_reader_block(r, s->rp.tid, i, &start, &len) < 0 ? UINT64_MAX
	       : start > offset                                   ? start
	                                                          : start + len;
}

struct lz_gap_start lz_interval_before(struct lz_session *s, struct lz_gap_start end)
{
	const struct lz_gap_start first = lz_back_first(s);
	uint32_t i = lz_reader_checkpoint_before(s->rp.reader, end.event, end.marker);

	for (; i && i < lz_reader_n_checkpoints(s->rp.reader); i--) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, i);
		const uint64_t at = ck ? next_block(s, ck->pos.marker) : UINT64_MAX;
		if (at < end.marker)
			return lz_gap_later(first, (struct lz_gap_start){lz_gap_event(s, at), at});
	}
	return first;
}

struct lz_gap_start lz_interval_after(struct lz_session *s, struct lz_gap_start start)
{
	struct lz_reader *r = s->rp.reader;
	uint32_t i = lz_reader_checkpoint_before(r, start.event, start.marker);

	for (; i < lz_reader_n_checkpoints(r); i++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);
		const uint64_t at = ck ? next_block(s, ck->pos.marker) : UINT64_MAX;
		if (at > start.marker && at != UINT64_MAX)
			return (struct lz_gap_start){lz_gap_event(s, at), at};
	}
	return (struct lz_gap_start){UINT64_MAX, UINT64_MAX};
}

/* ---- what reading costs ---- */

static bool any_loose(struct lz_nav *nav, const uint64_t *addrs, size_t n, uint64_t event)
{
	for (size_t i = 0; i < n; i++) {
		struct lz_target t;

		lz_target_find(nav->stream, nav->modules, addrs[i], event, &t);
		if (t.loose)
			return true;
	}
	return false;
}

struct lz_reading lz_reading_expected(struct lz_session *s, const uint64_t *addrs, size_t n,
                                      uint64_t event)
{
	struct lz_nav *nav = lz_nav_of(s);
	const bool loose = nav && any_loose(nav, addrs, n, event);

	return loose ? (struct lz_reading){LOOSE_BYTES, LOOSE_BYTES * LOOSE_NS}
	             : (struct lz_reading){0, 0};
}

uint64_t lz_reading_begin(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void lz_reading_end(struct lz_reading *r, uint64_t begun, uint64_t bytes)
{
	r->bytes += bytes;
	r->ns += lz_reading_begin() - begun;
}

/* ---- does running pay? ---- */

/* When was checkpoint I made? The recording's end: behind the last one. */
static uint64_t time_of(struct lz_reader *r, uint32_t i)
{
	const struct lz_checkpoint *ck =
	    i < lz_reader_n_checkpoints(r) ? lz_reader_checkpoint(r, i) : NULL;

	return ck ? ck->time_ns : lz_reader_meta(r)->duration_ns;
}

/* From the last checkpoint before FROM, whose time is all that is known. */
static uint64_t run_ns(struct lz_reader *r, struct lz_gap_start from, struct lz_gap_start to)
{
	const uint32_t first = lz_reader_checkpoint_before(r, from.event, from.marker);
	const uint32_t last = to.event == UINT64_MAX
	                          ? lz_reader_n_checkpoints(r)
	                          : lz_reader_checkpoint_before(r, to.event, to.marker);
	const uint64_t begun = time_of(r, first);
	const uint64_t ended = time_of(r, last > first ? last : first + 1);

	return ended > begun ? ended - begun : 0;
}

bool lz_interval_pays(struct lz_session *s, const struct lz_reading *r, struct lz_gap_start from,
                      struct lz_gap_start to)
{
	const struct lz_nav *nav = lz_nav_of(s);
	const uint64_t len = nav ? lz_stream_len(nav->stream) : 0;
	const uint64_t end = to.marker < len ? to.marker : len;

	if (end <= from.marker || !r->bytes)
		return false;
	const double reading = (double)r->ns / (double)r->bytes * (double)(end - from.marker);
	return reading > (double)run_ns(s->rp.reader, from, to) + RESTORE_NS;
}

/* ---- the run ---- */

static int keep_last(void *arg, const struct lz_hit *hit)
{
	struct lz_hit *last = arg;

	*last = *hit;
	last->from = NULL;
	return 0;
}

int lz_interval_run_back(struct lz_session *s, const struct lz_scan_what *what,
                         struct lz_gap_start *end, struct lz_hit *last)
{
	const struct lz_gap_start start = lz_interval_before(s, *end);
	const struct lz_scan_end to = {.event = end->event, .marker = end->marker};
	struct lz_scan_what few = *what;
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, start.event, start.marker, &ret);
	if (!e)
		return ret == 2
		           ? LZ_SCAN_INTERRUPTED
		           : lz_fail_in("going back to event %lu, marker %lu",
		                        (unsigned long)start.event, (unsigned long)start.marker);
	few.most = LZ_INTERVAL_HITS;
	*last = (struct lz_hit){.pos.marker = UINT64_MAX};
	ret = lz_scan(s, e, &to, &few, keep_last, last);
	lz_engine_free(e);
	if (ret)
		return ret;
	if (last->pos.marker != UINT64_MAX)
		return 1;
	*end = start;
	return 0;
}
