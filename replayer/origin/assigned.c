/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the compiler says holds for the program as it was meant. A store behind an array's end is found
 * out by the value: if that is not what the last assignment has left, all of the run is searched. */
#include "replayer/origin/assigned.h"
#include "replayer/navigate/interval.h"
#include "replayer/origin/assigners.h"
#include "replayer/stream/windows.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* Windows in which nothing was found, and stops in one: then running all of it is as good. */
enum { TRIES = 6, MOST_STOPS = 20000 };

struct search {
	struct lz_session *s;
	struct lz_nav *nav;
	const struct lz_access_query *q;
	const uint8_t *value;
	struct lz_assigners may;
	struct lz_windows windows;
	/* nothing is behind END; the window that was run last ended at TO */
	struct lz_gap_start first, end, to;
	struct lz_engine *e; /* that runs a window */
	unsigned tries;
	struct lz_reading reading;
	bool any;
	struct lz_hit hit; /* the last one */
	bool same;         /* it has left the value of now */
};

/* ---- one window ---- */

static bool has_value(const struct search *x, struct lz_engine *e)
{
	uint8_t value[LZ_ASSIGNED_MAX];

	return lz_engine_read(e, x->q->addr, value, x->q->len) == x->q->len &&
	       memcmp(value, x->value, x->q->len) == 0;
}

static int keep(void *arg, const struct lz_hit *hit)
{
	struct search *x = arg;

	x->any = true;
	x->hit = *hit;
	x->same = has_value(x, x->e);
	return 0;
}

static struct lz_gap_start gap_at(struct search *x, uint64_t marker)
{
	return (struct lz_gap_start){lz_gap_event(x->s, marker), marker};
}

/* The first gap that begins at offset TO or behind it, but not behind END. */
static int window_end(struct search *x, uint64_t to, struct lz_scan_end *end)
{
	*end = (struct lz_scan_end){.event = x->end.event, .marker = x->end.marker};
	if (to >= x->end.marker)
		return 0;
	const int64_t at = lz_marker_boundary(x->s, to);
	if (at < 0)
		return -1;
	const uint64_t marker =
	    (uint64_t)at < to ? lz_engine_next_marker(x->s->e, (uint64_t)at) : (uint64_t)at;
	const struct lz_gap_start g = gap_at(x, marker);
	if (lz_gap_cmp(g.event, g.marker, x->end.event, x->end.marker) < 0)
		*end = (struct lz_scan_end){.event = g.event, .marker = g.marker};
	return 0;
}

/* Runs from offset FROM up to offset TO. 1: X->hit is in it. */
static int run_window(struct search *x, uint64_t from, uint64_t to)
{
	const struct lz_scan_what what = {.watch = true, .most = MOST_STOPS};
	const int64_t at = lz_marker_boundary(x->s, from);
	struct lz_scan_end end;
	int ret;

	if (at < 0 || window_end(x, to, &end) < 0)
		return -1;
	const struct lz_gap_start start = gap_at(x, (uint64_t)at);
	x->any = false;
	x->e = lz_session_engine_at(x->s, start.event, start.marker, &ret);
	if (!x->e)
		return ret == 2 ? LZ_SCAN_INTERRUPTED : -1;
	ret = lz_scan(x->s, x->e, &end, &what, keep, x);
	lz_engine_free(x->e);
	if (ret)
		return ret;
	x->to = (struct lz_gap_start){end.event, end.marker};
	x->end = start;
	return x->any;
}

/* ---- the windows of a block ---- */

/* 1: found; LZ_ASSIGNED_UNKNOWN: tried often enough. */
static int search_windows(struct search *x)
{
	const struct lz_windows *w = &x->windows;

	for (size_t n = w->n; n; n--) {
		if (x->tries++ == TRIES)
			return LZ_ASSIGNED_UNKNOWN;
		/* the first half of the tries one by one, then a block's all at once */
		const struct lz_window *first = x->tries > TRIES / 2 ? w->w : &w->w[n - 1];
		const int ret = run_window(x, first->from, w->w[n - 1].to);
		if (ret || first == w->w)
			return ret;
	}
	return 0;
}

static bool may_run(const struct search *x, uint32_t block)
{
	for (size_t i = 0; i < x->may.n; i++)
		if (lz_stream_ran(x->nav->stream, block, x->may.v[i].fn))
			return true;
	return false;
}

static int read_block(struct search *x, uint32_t block, uint64_t from, uint64_t to)
{
	const uint64_t begun = lz_reading_begin();

	if (lz_find_windows(x->nav->stream, x->nav->modules, block, from, to, x->may.thread,
	                    x->may.v, x->may.n, &x->windows) < 0)
		return -1;
	lz_reading_end(&x->reading, begun, to - from);
	return search_windows(x);
}

/* From END back to the beginning of its block at least. */
static int search_block(struct search *x, uint64_t floor)
{
	const uint32_t block = lz_stream_block_of(x->nav->stream, x->end.marker - 1);
	uint64_t start, len;
	int ret = 0;

	if (x->s->rp.tick)
		x->s->rp.tick(x->s->rp.tick_arg);
	if (x->s->rp.interrupted)
		return LZ_SCAN_INTERRUPTED;
	if (lz_reader_block(x->s->rp.reader, x->s->rp.tid, block, &start, &len) < 0)
		return -1;
	const uint64_t from = start < floor ? floor : start;
	const struct lz_gap_start begin = lz_interval_before(x->s, x->end);
	if (may_run(x, block))
		ret =
		    lz_interval_pays(x->s, &x->reading, begin, x->end)
		        ? run_window(x, begin.marker > floor ? begin.marker : floor, x->end.marker)
		        : read_block(x, block, from, x->end.marker);
	if (!ret && from < x->end.marker)
		x->end = gap_at(x, from);
	return ret;
}

static int search_blocks(struct search *x, uint64_t floor)
{
	int ret = lz_stream_n_blocks(x->nav->stream) ? 0 : LZ_ASSIGNED_UNKNOWN;

	while (!ret && x->end.marker > floor)
		ret = search_block(x, floor);
	return ret;
}

/* ---- the answer ---- */

static int go_to_hit(struct search *x)
{
	struct lz_pos to;

	if (!x->same)
		return LZ_ASSIGNED_UNKNOWN;
	/* the next search for the same begins there */
	lz_quiet_add(lz_quiet_of(x->s), x->to,
	             (struct lz_gap_start){x->s->pos.event, x->s->pos.marker});
	const int ret = lz_session_resolve(x->s, &x->hit, &to);
	if (ret)
		return ret == 2 ? LZ_ACCESS_INTERRUPTED : -1;
	return lz_session_to_hit(x->s, &x->hit, &to);
}

/* Moves there if the variable has the same value: nothing lies behind that. */
static int give_up_at(struct search *x, struct lz_gap_start g)
{
	int ret;

	struct lz_engine *e = lz_session_engine_at(x->s, g.event, g.marker, &ret);
	if (!e)
		return ret == 2 ? LZ_ACCESS_INTERRUPTED : -1;
	const bool same = has_value(x, e);
	lz_engine_free(e);
	if (!same)
		return LZ_ASSIGNED_UNKNOWN;
	return lz_session_seek_gap(x->s, g.event, g.marker) < 0 ? -1 : LZ_ASSIGNED_UNKNOWN;
}

static int search(struct search *x)
{
	const bool local = x->may.thread != LZ_NO_THREAD;
	const struct lz_event *mapped =
	    x->may.from_event ? lz_reader_event(x->s->rp.reader, x->may.from_event - 1) : NULL;
	if (mapped)
		x->first = lz_gap_later(x->first,
		                        (struct lz_gap_start){x->may.from_event, mapped->marker});
	const uint64_t floor =
	    local && x->may.begin > x->first.marker ? x->may.begin : x->first.marker;
	const int ret = search_blocks(x, floor);

	switch (ret) {
	/* before that, only the function's beginning, or the loader, has stored */
	case 0: return give_up_at(x, local ? gap_at(x, floor) : x->first);
	case 1: return go_to_hit(x);
	case LZ_SCAN_INTERRUPTED: return LZ_ACCESS_INTERRUPTED;
	case LZ_SCAN_DIVERGED: return lz_fail("replay diverged");
	case LZ_SCAN_MANY: return LZ_ASSIGNED_UNKNOWN;
	case LZ_ASSIGNED_UNKNOWN: return give_up_at(x, x->end);
	default: return -1;
	}
}

static struct lz_gap_start first_gap(struct lz_session *s, const struct lz_access_query *q)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);
	const uint64_t begin = lz_session_program_begin(s);
	const struct lz_event *ev = begin ? lz_reader_event(s->rp.reader, begin - 1) : NULL;
	struct lz_gap_start g = {q->from.event, q->from.marker};

	if (ck)
		g = lz_gap_later(g, (struct lz_gap_start){ck->pos.event, ck->pos.marker});
	return ev ? lz_gap_later(g, (struct lz_gap_start){begin, ev->marker}) : g;
}

int lz_assigned_last(struct lz_session *s, const struct lz_access_query *q,
                     const struct lz_pos *now, const uint8_t *value)
{
	struct search *x = calloc(1, sizeof *x);
	struct lz_nav *nav = lz_nav_of(s);
	int ret = LZ_ASSIGNED_UNKNOWN;

	if (!x || !nav) {
		free(x);
		return x ? -1 : lz_fail("out of memory");
	}
	*x = (struct search){.s = s,
	                     .nav = nav,
	                     .q = q,
	                     .value = value,
	                     .first = first_gap(s, q),
	                     .end = {s->pos.event, s->pos.marker}};
	lz_session_progress(s, "reading markers");
	const int known = lz_nav_index(nav, now->marker);
	if (known)
		ret = known == 1 ? LZ_ACCESS_INTERRUPTED : -1;
	else if (!lz_stream_oddities(nav->stream) &&
	         lz_assigners_find(nav, now, q->addr, q->len, q->frame.local, q->frame.entry,
	                           &x->may))
		ret = search(x);
	lz_session_progress(s, NULL);
	if (ret == LZ_ACCESS_INTERRUPTED || (ret < 0 && s->rp.interrupted)) {
		s->rp.interrupted = false;
		ret = LZ_ACCESS_INTERRUPTED;
	}
	lz_assigners_free(&x->may);
	free(x->windows.w);
	free(x);
	return ret;
}
