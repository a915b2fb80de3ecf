/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jump_forward, jump_backward: the marker stream says where control can have been at an address,
 * block by block; each candidate is run again, so an answer is never wrong.
 *
 * Source: Lizard, "Tracing and Replaying algorithms" (jumps by pairs in pre- and post-sets). */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/navigate/insn_begin.h"
#include "replayer/navigate/jump.h"
#include "replayer/navigate/nav.h"
#include "replayer/navigate/target_code.h"
#include "replayer/stream/windows.h"

enum {
	TRIES = 12,
	NEAR = 4 << 20
}; /* candidates of a block run one by one; bytes worth running on */

struct jump {
	struct lz_session *s;
	struct lz_nav *nav;
	uint64_t *addrs;
	size_t n, n_marked;   /* those of which the markers tell come first */
	uint32_t tid, thread; /* whose arrivals count; 0, LZ_NO_THREAD: all threads' */
	struct lz_pos now;
	/* the instants that count: those of the present program, or all */
	uint64_t from_event, to_event, to_marker;
	uint64_t floor; /* no need to look for markers before it */
	bool from_gap;  /* backward from the start of now's gap, not from now */
	struct lz_target *targets;
	struct lz_target_code *code; /* of those */
	struct lz_windows windows;
	struct lz_engine *e; /* of the window before */
	bool first;          /* want the first hit of a window, else the last */
	uint64_t skip;       /* hits in the present gap that lie before now */
	bool by_copies;      /* the last hit may be one whose arrivals nobody has counted */
	bool found;
	struct lz_pos hit;
	struct lz_last last;
	enum lz_stop_reason broken; /* why the search ended early, 0 */
};

static int on_hit(void *arg, const struct lz_hit *h)
{
	struct jump *j = arg;

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

static bool is_here(const struct jump *j, const struct lz_scan_end *end)
{
	return end->event == j->now.event && end->marker == j->now.marker;
}

/* Uses the engine up. */
static int scan_last(struct jump *j, const struct lz_scan_end *end, const struct lz_scan_what *what)
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
static int scan(struct jump *j, uint64_t from, const struct lz_scan_end *end)
{
	int rc = engine_at(j, from);

	if (rc)
		return rc;
	struct lz_scan_what what = {.addrs = j->addrs, .n = j->n};
	if (j->by_copies)
		rc = scan_last(j, end, &what);
	else
		rc = lz_scan(j->s, j->e, end, &what, on_hit, j);
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

/* From the first of some windows to the end of the last. */
static int scan_windows(struct jump *j, const struct lz_window *first, const struct lz_window *last)
{
	int64_t from = (int64_t)first->from;

	if (first->rough)
		from = lz_marker_boundary(j->s, first->from);
	return from < 0 ? -1 : scan_window(j, (uint64_t)from, last->to);
}

/* Windows in a block, for the first J->n addresses. */
static int search_windows(struct jump *j, uint32_t block, uint64_t from, uint64_t to)
{
	struct lz_windows *w = &j->windows;
	size_t tries;
	int rc = 0;

	if (j->s->rp.interrupted) {
		j->broken = LZ_STOP_INTERRUPTED;
		return 1;
	}
	if (lz_find_windows(j->nav->stream, j->nav->modules, block, from, to, j->thread, j->targets,
	                    j->n, w))
		return -1;
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
static int search_block(struct jump *j, uint32_t block, uint64_t from, uint64_t to)
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

static int search_forward(struct jump *j)
{
	uint32_t block = lz_stream_block_of(j->nav->stream, j->now.marker);
	uint32_t n = lz_stream_n_blocks(j->nav->stream);
	uint64_t at = j->now.marker;
	int rc = 0;

	if (count_skipped(j))
		return -1;
	/* The rest of the present gap, and on to the next marker. */
	rc = scan_window(j, at, at + 1);
	j->skip = 0;
	at = lz_engine_next_marker(j->s->e, at);
	for (; !rc && block < n && at <= j->to_marker && at != UINT64_MAX; block++) {
		uint64_t start, len;

		if (lz_reader_block(j->s->rp.reader, j->s->rp.tid, block, &start, &len))
			return -1;
		if (start > at)
			at = start;
		if (at > j->to_marker)
			break;
		uint64_t to = start + len > j->to_marker ? j->to_marker + 1 : start + len;

		if (at < to || block + 1 == n)
			rc = search_block(j, block, at, to);
	}
	return rc;
}

/* Where the instants that count begin. */
static uint64_t first_marker(struct jump *j)
{
	const struct lz_event *ev =
	    j->from_event ? lz_reader_event(j->s->rp.reader, j->from_event - 1) : NULL;

	return ev ? ev->marker : lz_reader_first_marker(j->s->rp.reader);
}

static int search_backward(struct jump *j)
{
	uint32_t block = lz_stream_block_of(j->nav->stream, j->now.marker);
	uint64_t begin = first_marker(j);
	bool begins = j->from_gap && lz_gap_event(j->s, j->now.marker) >= j->now.event;
	int rc = begins ? 0 : scan_window(j, j->now.marker, UINT64_MAX);

	if (!lz_stream_n_blocks(j->nav->stream))
		return rc;
	for (; !rc; block--) {
		uint64_t start, len, to;

		if (lz_reader_block(j->s->rp.reader, j->s->rp.tid, block, &start, &len))
			return -1;
		to = start + len < j->now.marker ? start + len : j->now.marker;
		if (start < begin)
			start = begin;
		if (to > start)
			rc = search_block(j, block, start, to);
		if (!block || start <= begin || start < j->floor)
			break;
	}
	/* What ran before the first marker. */
	if (!rc && j->now.marker > begin && j->floor <= begin)
		rc = scan_window(j, begin, begin + 1);
	return rc;
}

/* Has the program had other threads than the one whose arrivals count? */
static bool others_ran(const struct jump *j)
{
	const struct lz_turns *t = j->nav->threads.turns;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->v[i].tid != j->tid && t->v[i].event >= j->from_event)
			return true;
	return false;
}

static int finish(struct jump *j, struct lz_stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	if (j->found) {
		stop->reason = LZ_STOP_TARGET;
		if (lz_session_to_hit(j->s, &j->last.hit,
		                      &j->hit)) /* a prefix ran into the breakpoint */
			return lz_fail_in("no instruction seems to begin at 0x%llx",
			                  (unsigned long long)j->hit.ip);
	} else if (!j->broken && j->n == 1 && !lz_insn_begins(j->nav, j->addrs[0])) {
		return lz_fail("no instruction seems to begin at 0x%llx",
		               (unsigned long long)j->addrs[0]);
	} else if (j->broken) {
		stop->reason = j->broken;
		j->s->rp.interrupted = false;
	} else if (j->first ? j->to_event != UINT64_MAX : j->from_event) {
		return lz_fail("control does not come there %s in this program",
		               j->first ? "any more" : "before");
	} else if (j->tid && others_ran(j)) {
		return lz_fail("thread %u does not come there %s; -any looks at all threads",
		               j->tid, j->first ? "any more" : "before");
	} else {
		return lz_fail("control %s there %s%s", j->first ? "does not come" : "was not",
		               j->first ? "any more" : "before",
		               !j->first && lz_reader_begins_later(j->s->rp.reader)
		                   ? ". The recording begins here: earlier parts of the run were "
		                     "not kept"
		                   : "");
	}
	lz_session_known(j->s, &stop->pos);
	return 0;
}

static int prepare(struct jump *j, const uint64_t *addrs, size_t n)
{
	size_t other = n;

	j->thread = LZ_NO_THREAD;
	j->n = n;
	j->addrs = calloc(n, sizeof(*j->addrs));
	j->targets = calloc(n, sizeof(*j->targets));
	j->code = calloc(n, sizeof(*j->code));
	if (!j->addrs || !j->targets || !j->code)
		return lz_fail("out of memory for a jump");
	for (size_t i = 0; i < n; i++) {
		struct lz_target t;

		lz_target_find(j->nav->stream, j->nav->modules, addrs[i], j->now.event, &t);
		size_t at = t.fn != LZ_FN_NONE || t.hook ? j->n_marked++ : --other;
		j->addrs[at] = addrs[i];
		j->targets[at] = t;
		if (t.loose)
			lz_target_code_begin(&j->code[at], j->nav->stream, j->nav->modules,
			                     &j->targets[at]);
	}
	return 0;
}

static void end(struct jump *j)
{
	lz_engine_free(j->e);
	lz_engine_free(j->last.from);
	free(j->addrs);
	for (size_t i = 0; j->code && i < j->n; i++)
		lz_target_code_end(&j->code[i]);
	free(j->code);
	free(j->targets);
	free(j->windows.w);
}

/* Which instants count. */
static int bound(struct jump *j)
{
	struct lz_reader *r = j->s->rp.reader;
	uint32_t n, i = lz_reader_program_at(r, j->now.event);
	const struct lz_program *p = j->s->by_program ? lz_reader_programs(r, &n) : NULL;
	const struct lz_event *last;

	j->to_event = j->to_marker = UINT64_MAX;
	if (!p)
		return 0;
	j->from_event = p[i].from;
	if (p[i].to == UINT64_MAX)
		return 0;
	j->to_event = p[i].to;
	last = lz_reader_event(r, p[i].to - 1);
	if (last)
		j->to_marker = last->marker;
	return last ? 0 : -1;
}

int lz_session_jump(struct lz_session *s, enum lz_direction d, uint32_t tid, const uint64_t *addrs,
                    size_t n, struct lz_stop *stop)
{
	struct jump j = {.s = s, .nav = lz_nav_of(s), .tid = tid};
	int rc;

	if (!j.nav)
		return -1;
	if (!n)
		return lz_fail("jump to nowhere: no address is given");
	lz_session_known(s, &j.now);
	if (bound(&j) || prepare(&j, addrs, n)) {
		end(&j);
		return -1;
	}
	if (tid) {
		j.thread = lz_stream_thread_find(&j.nav->threads, tid, j.now.event);
		if (j.thread == LZ_NO_THREAD) {
			end(&j);
			return lz_fail("there is no thread %u here", tid);
		}
	}
	lz_session_begin(s);
	j.first = d == LZ_FORWARD;
	j.by_copies = !j.first && !j.n_marked && !j.from_event && !(tid && others_ran(&j));
	if (!j.by_copies)
		lz_session_where(s, &j.now);
	rc = j.first ? search_forward(&j) : search_backward(&j);
	/* it may have been the reading of markers that was interrupted */
	if (rc < 0 && s->rp.interrupted) {
		j.broken = LZ_STOP_INTERRUPTED;
		rc = 0;
	}
	rc = rc < 0 ? -1 : finish(&j, stop);
	end(&j);
	return rc;
}

/* ---- the last arrival, for a backward run ---- */

/* Do the markers tell of all arrivals at the targets? Not where the file at an address was
 * another one at other times. */
static bool all_known(struct jump *j)
{
	for (size_t i = 0; i < j->n; i++) {
		size_t files = 0;

		for (size_t k = 0; k < lz_modules_count(j->nav->modules); k++) {
			struct lz_module *mod = lz_modules_get(j->nav->modules, k);

			files += j->addrs[i] >= mod->start && j->addrs[i] < mod->end &&
			         mod->to_event > j->from_event && mod->from_event < j->to_event;
		}
		if (files != 1 || (j->targets[i].fn == LZ_FN_NONE && !j->targets[i].hook))
			return false;
	}
	return lz_stream_n_blocks(j->nav->stream) > 0;
}

static int find_last(struct jump *j, const uint64_t *addrs, size_t n)
{
	int rc;

	if (bound(j) || prepare(j, addrs, n))
		return -1;
	if (!all_known(j))
		return LZ_FIND_UNKNOWN;
	rc = lz_nav_index(j->nav, j->now.marker);
	if (rc)
		return rc < 0 ? -1 : LZ_SCAN_INTERRUPTED;
	if (lz_stream_oddities(j->nav->stream))
		return LZ_FIND_UNKNOWN;
	if (search_backward(j) < 0)
		return -1;
	if (j->broken)
		return j->broken == LZ_STOP_INTERRUPTED ? LZ_SCAN_INTERRUPTED : LZ_SCAN_DIVERGED;
	return j->found;
}

int lz_find_last(struct lz_session *s, uint64_t floor, uint64_t event, uint64_t marker,
                 const uint64_t *addrs, size_t n, struct lz_pos *hit)
{
	struct jump j = {.s = s, .nav = lz_nav_of(s), .floor = floor, .from_gap = true};
	int rc;

	if (!j.nav)
		return -1;
	j.now = (struct lz_pos){.tid = s->rp.tid, .event = event, .marker = marker};
	rc = find_last(&j, addrs, n);
	*hit = j.hit;
	end(&j);
	return rc;
}

/* What has to be computed again takes as long as so much that has only to be read. */
enum { COMPUTED = 64 };

/* Bytes of the blocks from FIRST on, up to MARKER, that would have to be computed. */
static uint64_t hashed_before(struct lz_session *s, uint32_t first, uint64_t marker)
{
	uint64_t start, len, bytes = 0;

	for (uint32_t i = first; i < lz_reader_n_blocks(s->rp.reader, s->rp.tid); i++) {
		if (lz_reader_block(s->rp.reader, s->rp.tid, i, &start, &len) || start >= marker)
			break;
		if (!lz_reader_block_at_hand(s->rp.reader, s->rp.tid, i))
			bytes += len;
	}
	return bytes;
}

uint64_t lz_find_last_cost(struct lz_session *s, uint64_t marker)
{
	struct lz_nav *nav = lz_nav_of(s);
	uint64_t start = 0, len;
	uint32_t done = nav ? lz_stream_indexed(nav->stream) : 0;

	if (!done || lz_reader_block(s->rp.reader, s->rp.tid, done - 1, &start, &len))
		return marker;
	return marker > start ? marker - start + COMPUTED * hashed_before(s, done - 1, marker) : 0;
}
