/* jump_forward, jump_backward: the marker stream says where control can have been at an address, block by
 * block; each candidate is run again, so an answer is never wrong.
 *
 * Source: Lizard, "Tracing and Replaying algorithms" (jumps by pairs in pre- and post-sets). */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/jump_find.h"
#include "replayer/nav.h"
#include "replayer/session.h"

enum {
	TRIES = 12,
	NEAR = 4 << 20
}; /* candidates of a block run one by one; bytes worth running on */

struct jump {
	struct lz_session *s;
	struct lz_nav *nav;
	const uint64_t *addrs;
	size_t n;
	struct lz_pos now;
	struct lz_target *targets;
	struct lz_windows windows;
	struct lz_engine *e; /* of the window before */
	bool first;          /* want the first hit of a window, else the last */
	uint64_t skip;       /* hits in the present gap that lie before now */
	bool found;
	struct lz_pos hit;
	enum lz_stop_reason broken; /* why the search ended early, 0 */
};

static int on_hit(void *arg, const struct lz_hit *h)
{
	struct jump *j = arg;

	if (h->kind != LZ_HIT_BREAK)
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
static int engine_at(struct jump *j, uint64_t marker)
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

/* 1: found or broken off. */
static int scan(struct jump *j, uint64_t from, const struct lz_scan_end *end)
{
	int rc = engine_at(j, from);

	if (rc)
		return rc;
	rc = lz_scan(j->s, j->e, end, j->addrs, j->n, false, on_hit, j);
	if (rc == LZ_SCAN_INTERRUPTED)
		j->broken = LZ_STOP_INTERRUPTED;
	else if (rc == LZ_SCAN_DIVERGED)
		j->broken = LZ_STOP_DIVERGED;
	else if (rc == -1)
		return -1;
	/* The engine has stopped in the middle of a gap, or was spent. */
	if (rc) {
		lz_engine_free(j->e);
		j->e = NULL;
	}
	return j->found || j->broken;
}

static int scan_window(struct jump *j, uint64_t from, uint64_t to)
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
	if (!j->first && lz_gap_cmp(end.event, end.marker, j->now.event, j->now.marker) >= 0) {
		end.event = j->now.event;
		end.marker = j->now.marker;
		end.pos = &j->now;
	}
	return scan(j, from, &end);
}

/* How many of the addresses' arrivals in the present gap are not after now. */
static int count_skipped(struct jump *j)
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

static int search_block(struct jump *j, uint32_t block, uint64_t from, uint64_t to)
{
	struct lz_windows *w = &j->windows;
	size_t tries;
	int rc = 0;

	if (j->s->rp.interrupted) {
		j->broken = LZ_STOP_INTERRUPTED;
		return 1;
	}
	if (lz_find_windows(j->nav->stream, block, from, to, j->targets, j->n, w))
		return -1;
	tries = w->n <= TRIES ? w->n : TRIES;
	for (size_t i = 0; i < tries && !rc; i++) {
		size_t k = j->first ? i : w->n - 1 - i;

		rc = scan_window(j, w->w[k].from, w->w[k].to);
	}
	if (rc || tries == w->n)
		return rc;
	/* The CFG is no help here: all the rest in one go. */
	if (j->first)
		return scan_window(j, w->w[tries].from, w->w[w->n - 1].to);
	return scan_window(j, w->w[0].from, w->w[w->n - 1 - tries].to);
}

static int search_forward(struct jump *j)
{
	uint32_t block = lz_stream_block_of(j->nav->stream, j->now.marker);
	uint32_t n = lz_stream_n_blocks(j->nav->stream);
	uint64_t at = j->now.marker;
	int rc = 0;

	j->first = true;
	if (count_skipped(j))
		return -1;
	/* The rest of the present gap, and on to the next marker. */
	rc = scan_window(j, at, at + 1);
	j->skip = 0;
	at = lz_engine_next_marker(j->s->e, at);
	for (; !rc && block < n && at != UINT64_MAX; block++) {
		uint64_t start, len;

		if (lz_reader_block(j->s->rp.reader, j->now.tid, block, &start, &len))
			return -1;
		if (start > at)
			at = start;
		if (at < start + len || block + 1 == n)
			rc = search_block(j, block, at, start + len);
	}
	return rc;
}

static int search_backward(struct jump *j)
{
	uint32_t block = lz_stream_block_of(j->nav->stream, j->now.marker);
	int rc = scan_window(j, j->now.marker, UINT64_MAX);

	if (!lz_stream_n_blocks(j->nav->stream))
		return rc;
	for (; !rc; block--) {
		uint64_t start, len, to;

		if (lz_reader_block(j->s->rp.reader, j->now.tid, block, &start, &len))
			return -1;
		to = start + len < j->now.marker ? start + len : j->now.marker;
		if (to > start)
			rc = search_block(j, block, start, to);
		if (!block)
			break;
	}
	/* What ran before the first marker. */
	if (!rc && j->now.marker)
		rc = scan_window(j, 0, 1);
	return rc;
}

static int finish(struct jump *j, struct lz_stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	if (j->found) {
		stop->reason = LZ_STOP_TARGET;
		if (lz_session_seek(j->s, &j->hit))
			return -1;
	} else if (j->broken) {
		stop->reason = j->broken;
		j->s->rp.interrupted = 0;
	} else {
		stop->reason = j->first ? LZ_STOP_END : LZ_STOP_START;
		if (j->first ? lz_session_seek_end(j->s) : lz_session_seek_start(j->s))
			return -1;
	}
	lz_session_where(j->s, &stop->pos);
	return 0;
}

int lz_session_jump(struct lz_session *s, enum lz_direction d, const uint64_t *addrs, size_t n,
                    struct lz_stop *stop)
{
	struct jump j = {.s = s, .nav = lz_nav_of(s), .addrs = addrs, .n = n};
	int rc;

	if (!j.nav)
		return -1;
	if (!n)
		return lz_fail("jump to nowhere: no address is given");
	lz_session_where(s, &j.now);
	j.targets = calloc(n, sizeof(*j.targets));
	if (!j.targets)
		return lz_fail("out of memory for a jump");
	for (size_t i = 0; i < n; i++)
		lz_target_find(j.nav->stream, j.nav->modules, addrs[i], j.now.event, &j.targets[i]);
	s->rp.interrupted = 0;
	rc = d == LZ_FORWARD ? search_forward(&j) : search_backward(&j);
	lz_engine_free(j.e);
	free(j.targets);
	free(j.windows.w);
	return rc < 0 ? -1 : finish(&j, stop);
}
