/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/back_interval.h"
#include "replayer/navigate/back_windows.h"
#include "replayer/navigate/nav.h"
#include "replayer/stream/target.h"
#include <lizard/error.h>

enum {
	READING_NS = 8, /* for each byte of markers, where the machine code is asked */
	MOST_HITS = 4096
};

/* ---- does it pay? ---- */

static bool any_loose(struct lz_session *s, const struct lz_scan_what *what, uint64_t event)
{
	struct lz_nav *nav = lz_nav_of(s);

	for (size_t i = 0; nav && i < what->n; i++) {
		struct lz_target t;

		lz_target_find(nav->stream, nav->modules, what->addrs[i], event, &t);
		if (t.loose)
			return true;
	}
	return false;
}

/* From the interval that ends behind END. */
static uint64_t run_ns(struct lz_session *s, struct lz_gap_start end)
{
	struct lz_reader *r = s->rp.reader;
	const uint32_t i = lz_reader_checkpoint_before(r, end.event, end.marker);
	const uint32_t n = lz_reader_n_checkpoints(r);
	const struct lz_checkpoint *ck = i < n ? lz_reader_checkpoint(r, i) : NULL;

	if (!ck)
		return UINT64_MAX;
	const uint64_t begun = ck->time_ns;
	ck = i + 1 < n ? lz_reader_checkpoint(r, i + 1) : NULL;
	const uint64_t ended = ck ? ck->time_ns : lz_reader_meta(r)->duration_ns;
	return ended > begun ? ended - begun : 0;
}

bool lz_back_interval_pays(struct lz_session *s, struct lz_gap_start end,
                           const struct lz_scan_what *what)
{
	const struct lz_gap_start start = lz_back_interval(s, end);
	const uint64_t bytes = end.marker - start.marker;

	return run_ns(s, end) / READING_NS < bytes && any_loose(s, what, end.event);
}

/* ---- the run ---- */

static int keep_last(void *arg, const struct lz_hit *hit)
{
	struct lz_hit *last = arg;

	*last = *hit;
	last->from = NULL;
	return 0;
}

int lz_back_run_interval(struct lz_session *s, const struct lz_scan_what *what,
                         struct lz_gap_start *end, struct lz_hit *last)
{
	const struct lz_gap_start start = lz_back_interval(s, *end);
	const struct lz_scan_end to = {.event = end->event, .marker = end->marker};
	struct lz_scan_what few = *what;
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, start.event, start.marker, &ret);
	if (!e)
		return ret == 2
		           ? LZ_SCAN_INTERRUPTED
		           : lz_fail_in("going back to event %lu, marker %lu",
		                        (unsigned long)start.event, (unsigned long)start.marker);
	few.most = MOST_HITS;
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
