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
#include "replayer/navigate/jump_search.h"

/* Has the program had other threads than the one whose arrivals count? */
static bool others_ran(const struct lz_jump *j)
{
	const struct lz_turns *t = j->nav->threads.turns;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->v[i].tid != j->tid && t->v[i].event >= j->from_event)
			return true;
	return false;
}

static int finish(struct lz_jump *j, struct lz_stop *stop)
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

static int prepare(struct lz_jump *j, const uint64_t *addrs, size_t n)
{
	size_t other = n;

	j->thread = LZ_NO_THREAD;
	j->reading = lz_reading_expected(j->s, addrs, n, j->now.event);
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

static void end_jump(struct lz_jump *j)
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
static int bound(struct lz_jump *j)
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
	struct lz_jump j = {.s = s, .nav = lz_nav_of(s), .tid = tid, .read_from = UINT64_MAX};
	int rc;

	if (!j.nav)
		return -1;
	if (!n)
		return lz_fail("jump to nowhere: no address is given");
	lz_session_known(s, &j.now);
	if (bound(&j) || prepare(&j, addrs, n)) {
		end_jump(&j);
		return -1;
	}
	if (tid) {
		j.thread = lz_stream_thread_find(&j.nav->threads, tid, j.now.event);
		if (j.thread == LZ_NO_THREAD) {
			end_jump(&j);
			return lz_fail("there is no thread %u here", tid);
		}
	}
	lz_session_begin(s);
	j.first = d == LZ_FORWARD;
	j.by_copies = !j.first && !j.n_marked && !j.from_event && !(tid && others_ran(&j));
	if (!j.by_copies)
		lz_session_where(s, &j.now);
	rc = j.first ? lz_jump_forward(&j) : lz_jump_backward(&j);
	/* it may have been the reading of markers that was interrupted */
	if (rc < 0 && s->rp.interrupted) {
		j.broken = LZ_STOP_INTERRUPTED;
		rc = 0;
	}
	rc = rc < 0 ? -1 : finish(&j, stop);
	end_jump(&j);
	return rc;
}

/* ---- the last arrival, for a backward run ---- */

/* Do the markers tell of all arrivals at the targets? Not where the file at an address was
 * another one at other times. */
static bool all_known(struct lz_jump *j)
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

static int find_last(struct lz_jump *j, const struct lz_last_search *x)
{
	if (bound(j) || prepare(j, x->addrs, x->n))
		return -1;
	if (x->reading.bytes)
		j->reading = x->reading;
	if (!all_known(j))
		return LZ_FIND_UNKNOWN;
	const int known = lz_nav_index(j->nav, j->now.marker);
	if (known)
		return known < 0 ? -1 : LZ_SCAN_INTERRUPTED;
	if (lz_stream_oddities(j->nav->stream))
		return LZ_FIND_UNKNOWN;
	if (lz_jump_backward(j) < 0)
		return -1;
	if (j->broken)
		return j->broken == LZ_STOP_INTERRUPTED ? LZ_SCAN_INTERRUPTED : LZ_SCAN_DIVERGED;
	return j->gave_way ? LZ_FIND_SLOW : j->found;
}

int lz_find_last(struct lz_session *s, struct lz_last_search *x, struct lz_gap_start *end)
{
	struct lz_jump j = {.s = s,
	                    .nav = lz_nav_of(s),
	                    .floor = x->floor,
	                    .from_gap = true,
	                    .read_from = x->reads_from,
	                    .gives_way = end};

	if (!j.nav)
		return -1;
	j.now = (struct lz_pos){.tid = s->rp.tid, .event = end->event, .marker = end->marker};
	const int rc = find_last(&j, x);
	x->hit = j.hit;
	x->reading = j.reading;
	end_jump(&j);
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
