/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/jump_search.h"
#include <lizard/error.h>

enum {
	TRIES = 12,
	NEAR = 4 << 20
}; /* candidates of a block run one by one; bytes worth running on */

static int on_hit(void *arg, const struct lz_hit *h)
{
	struct lz_jump *j = arg;

	if (h->kind != LZ_HIT_BREAK || (j->tid && h->pos.tid != j->tid) ||
	    h->pos.event < j->from_event || h->pos.event >= j->to_event)
		return 0;
	if (j->first && lz_gap_cmp(h->pos.event, h->pos.marker, j->now.event, j->now.marker) < 0)
		return 0;
	if (j->skip && h->pos.event == j->now.event && h->pos.marker == j->now.marker) {
		j->skip--;
		return 0;
	}
	j->found = true;
	j->hit = h->pos;
	return j->first;
}

/* An engine at the first gap that begins with stream offset MARKER. */
static int engine_at(struct lz_jump *j, uint64_t marker)
{
	uint64_t event = lz_gap_event(j->s, marker);
	int rc = 0;

	if (j->e && j->e->marker <= marker && marker - j->e->marker < NEAR &&
	    lz_gap_cmp(j->e->event, j->e->marker, event, marker) <= 0 &&
	    lz_engine_to_gap(j->e, event, marker) == 0)
		return 0;
	lz_engine_free(j->e);
	j->e = lz_session_engine_at(j->s, event, marker, &rc);
	if (j->e)
		return 0;
	if (rc == 2) {
		j->broken = LZ_STOP_INTERRUPTED;
		return 1;
	}
	return rc ? lz_fail("marker %llu cannot be reached again", (unsigned long long)marker) : -1;
}

static bool is_here(const struct lz_jump *j, const struct lz_scan_end *end)
{
	return end->event == j->now.event && end->marker == j->now.marker;
}

/* Uses the engine up. */
static int scan_last(struct lz_jump *j, const struct lz_scan_end *end,
                     const struct lz_scan_what *what)
{
	struct lz_engine *e = j->e;
	struct lz_scan_end to = *end;
	struct lz_last last;
	uint64_t skip = 0;
	int rc = 0;

	j->e = NULL;
	if (is_here(j, end) && !j->from_gap)
		rc = lz_scan_end_here(j->s, what, &to, &skip);
	if (rc) {
		lz_engine_free(e);
		return rc;
	}
	rc = lz_scan_last(j->s, e, &to, what, skip, &last);
	if (rc || !last.any)
		return rc;
	lz_engine_free(j->last.from);
	j->last = last;
	j->hit = last.hit.pos;
	j->found = true;
	return 0;
}

/* 1: found or broken off. */
static int scan(struct lz_jump *j, uint64_t from, const struct lz_scan_end *end)
{
	int rc = engine_at(j, from);

	if (rc)
		return rc;
	struct lz_scan_what what = {.addrs = j->addrs, .n = j->n, .most = j->most};
	if (j->by_copies)
		rc = scan_last(j, end, &what);
	else
		rc = lz_scan(j->s, j->e, end, &what, on_hit, j);
	/* The engine has stopped in the middle of a gap, or was spent. */
	if (rc) {
		lz_engine_free(j->e);
		j->e = NULL;
	}
	if (rc == LZ_SCAN_INTERRUPTED)
		j->broken = LZ_STOP_INTERRUPTED;
	else if (rc == LZ_SCAN_DIVERGED)
		j->broken = LZ_STOP_DIVERGED;
	else if (rc == -1 || rc == LZ_SCAN_MANY)
		return rc;
	return j->found || j->broken;
}

static int scan_window(struct lz_jump *j, uint64_t from, uint64_t to)
{
	struct lz_scan_end end = {.event = UINT64_MAX, .marker = UINT64_MAX};
	uint64_t len = lz_stream_len(j->nav->stream);

	if (to > from && to < len) {
		/* TO may lie inside the marker that closes the gap. */
		int64_t boundary = lz_marker_boundary(j->s, to);

		if (boundary < 0)
			return -1;
		end.marker = boundary;
		if ((uint64_t)boundary < to)
			end.marker = lz_engine_next_marker(j->s->e, boundary);
		end.event = lz_gap_event(j->s, end.marker);
	}
	if (lz_gap_cmp(end.event, end.marker, j->to_event, j->to_marker) > 0)
		end = (struct lz_scan_end){.event = j->to_event, .marker = j->to_marker};
	if (!j->first && lz_gap_cmp(end.event, end.marker, j->now.event, j->now.marker) >= 0) {
		end.event = j->now.event;
		end.marker = j->now.marker;
		end.pos = j->from_gap ? NULL : &j->now;
	}
	return scan(j, from, &end);
}

/* How many of the addresses' arrivals in the present gap are not after now. */
static int count_skipped(struct lz_jump *j)
{
	uint64_t n = 0;

	for (size_t i = 0; i < j->n; i++) {
		int64_t k = lz_session_count(j->s, j->addrs[i]);

		if (k < 0)
			return -1;
		n += k;
	}
	j->skip = n;
	return 0;
}

/* From the first of some windows to the end of the last. */
static int scan_windows(struct lz_jump *j, const struct lz_window *first,
                        const struct lz_window *last)
{
	int64_t from = (int64_t)first->from;

	if (first->rough)
		from = lz_marker_boundary(j->s, first->from);
	return from < 0 ? -1 : scan_window(j, (uint64_t)from, last->to);
}

/* Windows in a block, for the first J->n addresses. */
static int search_windows(struct lz_jump *j, uint32_t block, uint64_t from, uint64_t to)
{
	struct lz_windows *w = &j->windows;
	size_t tries;
	int rc = 0;

	const int known = lz_nav_index(j->nav, from);
	if (known > 0 || j->s->rp.interrupted) {
		j->broken = LZ_STOP_INTERRUPTED;
		return 1;
	}
	const uint64_t begun = lz_reading_begin();
	if (known || lz_find_windows(j->nav->stream, j->nav->modules, block, from, to, j->thread,
	                             j->targets, j->n, w))
		return -1;
	lz_reading_end(&j->reading, begun, to - from);
	tries = w->n <= TRIES ? w->n : TRIES;
	for (size_t i = 0; i < tries && !rc; i++) {
		size_t k = j->first ? i : w->n - 1 - i;

		rc = scan_windows(j, &w->w[k], &w->w[k]);
	}
	if (rc || tries == w->n)
		return rc;
	/* The CFG is no help here: all the rest in one go. */
	if (j->first)
		return scan_windows(j, &w->w[tries], &w->w[w->n - 1]);
	return scan_windows(j, &w->w[0], &w->w[w->n - 1 - tries]);
}

/* An address without markers makes the whole block a window, in which there may be countless
 * arrivals at the others: backward first for these, then only behind the last of them. */
static int search_block(struct lz_jump *j, uint32_t block, uint64_t from, uint64_t to)
{
	size_t n = j->n;
	int rc = 0;

	if (!j->first && j->n_marked && j->n_marked < n) {
		j->n = j->n_marked;
		rc = search_windows(j, block, from, to);
		j->n = n;
		if (j->found)
			from = j->hit.marker;
	}
	if (rc >= 0 && !j->broken)
		rc = search_windows(j, block, from, to);
	if (!j->first && j->broken) /* then the last one is not known */
		j->found = false;
	return rc;
}

/* ---- intervals that are run ---- */

/* Runs from gap FROM up to TO if that is cheaper than to read their markers. 0: done, 1: found,
 * broken off or left to the caller, TO_READ: the markers are to be read. */
enum { TO_READ = 2 };
static int run_interval(struct lz_jump *j, struct lz_gap_start from, struct lz_gap_start to)
{
	if (j->by_copies || !lz_interval_pays(j->s, &j->reading, from, to))
		return TO_READ;
	if (j->gives_way) {
		*j->gives_way = to;
		j->gave_way = true;
		return 1;
	}
	j->most = LZ_INTERVAL_HITS;
	const int rc = scan_window(j, from.marker, to.marker);
	j->most = 0;
	if (rc == LZ_SCAN_MANY || (!j->first && j->broken)) /* then the last one is not known */
		j->found = false;
	return rc == LZ_SCAN_MANY ? TO_READ : rc;
}

static struct lz_gap_start gap_at(struct lz_jump *j, uint64_t marker)
{
	return (struct lz_gap_start){lz_gap_event(j->s, marker), marker};
}

/* ---- all of the run ---- */

/* From offset *AT to the end of its block, or of its interval; *AT moves there. */
static int search_behind(struct lz_jump *j, uint64_t *at)
{
	const uint32_t block = lz_stream_block_of(j->nav->stream, *at);
	const bool last = block + 1 >= lz_stream_n_blocks(j->nav->stream);
	const struct lz_gap_start from = gap_at(j, *at), next = lz_interval_after(j->s, from);
	uint64_t start, len;

	if (next.marker > j->read_to) {
		const int rc = run_interval(j, from, next);
		if (rc != TO_READ) {
			*at = next.marker;
			return rc;
		}
		j->read_to = next.marker;
	}
	if (lz_reader_block(j->s->rp.reader, j->s->rp.tid, block, &start, &len))
		return -1;
	const uint64_t end = start + len > j->to_marker ? j->to_marker + 1 : start + len;
	const int rc = *at < end || last ? search_block(j, block, *at, end) : 0;
	*at = last ? UINT64_MAX : start + len;
	return rc;
}

int lz_jump_forward(struct lz_jump *j)
{
	uint64_t at = j->now.marker;

	if (count_skipped(j))
		return -1;
	/* The rest of the present gap, and on to the next marker. */
	int rc = scan_window(j, at, at + 1);
	j->skip = 0;
	if (!lz_stream_n_blocks(j->nav->stream))
		return rc;
	at = lz_engine_next_marker(j->s->e, at);
	while (!rc && at <= j->to_marker && at != UINT64_MAX)
		rc = search_behind(j, &at);
	return rc;
}

/* From the beginning of the block before offset *TO, or of the interval, but not before BEGIN; *TO
 * moves there. */
static int search_before(struct lz_jump *j, uint64_t begin, uint64_t *to)
{
	const uint32_t block = lz_stream_block_of(j->nav->stream, *to - 1);
	const struct lz_gap_start end = gap_at(j, *to), from = lz_interval_before(j->s, end);
	uint64_t start, len;

	if (from.marker < j->read_from && from.marker >= begin) {
		const int rc = run_interval(j, from, end);
		if (rc != TO_READ) {
			*to = from.marker;
			return rc;
		}
		j->read_from = from.marker;
	}
	if (lz_reader_block(j->s->rp.reader, j->s->rp.tid, block, &start, &len))
		return -1;
	if (start < begin)
		start = begin;
	const int rc = start < *to ? search_block(j, block, start, *to) : 0;
	*to = start;
	return rc;
}

/* Where the instants that count begin. */
static uint64_t first_marker(const struct lz_jump *j)
{
	const struct lz_event *ev =
	    j->from_event ? lz_reader_event(j->s->rp.reader, j->from_event - 1) : NULL;

	return ev ? ev->marker : lz_reader_first_marker(j->s->rp.reader);
}

int lz_jump_backward(struct lz_jump *j)
{
	const uint64_t begin = first_marker(j);
	const bool begins = j->from_gap && lz_gap_event(j->s, j->now.marker) >= j->now.event;
	int rc = begins ? 0 : scan_window(j, j->now.marker, UINT64_MAX);

	if (!lz_stream_n_blocks(j->nav->stream))
		return rc;
	for (uint64_t to = j->now.marker; !rc && to > begin && to >= j->floor;)
		rc = search_before(j, begin, &to);
	/* What ran before the first marker. */
	if (!rc && j->now.marker > begin && j->floor <= begin)
		rc = scan_window(j, begin, begin + 1);
	return rc;
}
