/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include "replayer/insn/flow.h"
#include "replayer/insn/history.h"
#include "replayer/stream/windows.h"
#include "replayer/session/session.h"

enum { INSNS_PER_MARK = 8 }; /* a first guess */

struct marks {
	struct lz_nav *nav;
	uint64_t from, to; /* those that begin at FROM or behind, and end at TO or before */
	struct lz_flow_mark *v;
	size_t n, room;
};

/* ---- the markers around ---- */

static const struct lz_fn *fn_of(struct lz_nav *nav, const struct lz_act *a)
{
	return a && a->fn != LZ_FN_NONE ? lz_stream_fn(nav->stream, a->fn) : NULL;
}

static int note(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct marks *k = arg;
	struct lz_flow_mark mark = {
	    .end = m->offset + lz_marker_size(m->code), .id = m->id, .code = m->code};

	if (mark.end > k->to)
		return 1;
	if (m->offset < k->from)
		return 0;
	if (m->code == LZ_ENTER || m->code == LZ_LANDING) {
		uint32_t fn = lz_decoder_fn(d, m->entry, m->offset);

		mark.fn = fn != LZ_FN_NONE ? lz_stream_fn(k->nav->stream, fn) : NULL;
	} else {
		mark.fn = fn_of(k->nav, lz_decoder_top(d));
	}
	if ((m->code == LZ_EXIT || m->code == LZ_TAIL) && d->n > 1) {
		mark.caller = fn_of(k->nav, &d->acts[d->n - 2]);
		mark.caller_last = d->acts[d->n - 2].last;
	}
	if (lz_reserve(k->v, k->room, k->n + 1) < 0)
		return lz_fail("out of memory for the history of instructions");
	k->v[k->n++] = mark;
	return 0;
}

/* Those of blocks FIRST to LAST. */
static int read_marks(struct marks *k, uint32_t first, uint32_t last)
{
	int rc = 0;

	k->n = 0;
	for (uint32_t b = first; !rc && b <= last; b++)
		rc = lz_stream_decode(k->nav->stream, b, UINT64_MAX, NULL, note, k);
	return rc < 0 ? -1 : 0;
}

static bool all_known(const struct lz_flow_mark *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!m[i].fn)
			return false;
	return true;
}

/* ---- backwards ---- */

static bool before_enter(struct lz_nav *nav, const struct lz_pos *now)
{
	struct lz_target t;

	lz_target_find(nav->stream, nav->modules, now->ip, now->event, &t);
	return t.prologue;
}

/* From ever earlier markers on, until there are enough instructions. */
static int try_before(struct lz_nav *nav, struct lz_insn_code *c, const struct marks *k, size_t n,
                      uint64_t *addrs)
{
	const struct lz_pos *now = &nav->s->pos;
	struct lz_flow_query q = {.s = nav->s,
	                          .goal = now->ip,
	                          .goal_n = now->n,
	                          .before_enter = before_enter(nav, now),
	                          .last = true,
	                          .wanted = n,
	                          .addrs = addrs};
	int rc = LZ_FLOW_SHORT;

	for (size_t back = 1 + n / INSNS_PER_MARK; rc == LZ_FLOW_SHORT && k->n;
	     back += 1 + back / 2) {
		if (back > k->n)
			back = k->n;
		/* the one at which it begins says where control is, and, of an EXIT, who called */
		q.mark = k->v + k->n - back;
		q.n = back;
		q.from = 1;
		rc = all_known(q.mark, q.n) ? lz_insn_flow(c, &q) : LZ_FLOW_UNTOLD;
		if (back == k->n)
			break;
	}
	return rc;
}

static int tell_before(struct lz_nav *nav, struct lz_insn_code *c, size_t n, uint64_t *addrs)
{
	struct lz_session *s = nav->s;
	const struct lz_event *ev = lz_session_event_before(s, s->pos.event);
	struct marks k = {.nav = nav, .from = ev ? ev->marker : 0, .to = s->pos.marker};
	uint32_t last, first;
	int rc;

	if ((!ev && s->pos.event) || k.to <= k.from)
		return 1;
	last = lz_stream_block_of(nav->stream, k.to - 1);
	for (first = last;; first--) {
		rc = read_marks(&k, first, last);
		if (!rc)
			rc = try_before(nav, c, &k, n, addrs);
		if (rc != LZ_FLOW_SHORT || !first ||
		    lz_stream_block_of(nav->stream, k.from) == first)
			break;
	}
	free(k.v);
	for (size_t i = 0; !rc && i < n / 2; i++) {
		uint64_t x = addrs[i];

		addrs[i] = addrs[n - 1 - i];
		addrs[n - 1 - i] = x;
	}
	return rc;
}

/* ---- forwards ---- */

/* Up to ever later markers. */
static int try_after(struct lz_nav *nav, struct lz_insn_code *c, const struct marks *k, size_t from,
                     size_t n, uint64_t *addrs)
{
	struct lz_flow_query q = {.s = nav->s,
	                          .mark = k->v,
	                          .from = from,
	                          .start = nav->s->pos.ip,
	                          .wanted = n,
	                          .addrs = addrs};
	int rc = LZ_FLOW_SHORT;

	for (size_t ahead = 1 + n / INSNS_PER_MARK; rc == LZ_FLOW_SHORT && from < k->n;
	     ahead += 1 + ahead / 2) {
		q.n = ahead < k->n - from ? from + ahead : k->n;
		rc = all_known(k->v + from, q.n - from) ? lz_insn_flow(c, &q) : LZ_FLOW_UNTOLD;
		if (q.n == k->n)
			break;
	}
	return rc;
}

static size_t behind(const struct marks *k, uint64_t offset)
{
	size_t i = 0;

	while (i < k->n && k->v[i].end <= offset)
		i++;
	return i;
}

static int tell_after(struct lz_nav *nav, struct lz_insn_code *c, size_t n, uint64_t *addrs)
{
	struct lz_session *s = nav->s;
	const struct lz_event *ev = lz_session_event_before(s, s->pos.event);
	struct marks k = {.nav = nav, .from = ev ? ev->marker : 0};
	uint32_t first = lz_stream_block_of(nav->stream, s->pos.marker), last = first;
	uint32_t end;
	uint64_t *list;
	int rc;

	if (!ev && s->pos.event)
		return 1;
	ev = lz_session_next_event(s);
	k.to = ev ? ev->marker : UINT64_MAX;
	end = lz_stream_block_of(nav->stream, k.to); /* the last there is, at most */
	list = malloc((n + 1) * sizeof(*list));
	if (!list)
		return lz_fail("out of memory for the history of instructions");
	do {
		rc = read_marks(&k, first, last);
		/* the marker before the first one says who called, if it is an EXIT, and whether
		 * a jump leaves, if it is a TAIL */
		if (!rc)
			rc = try_after(nav, c, &k, behind(&k, s->pos.marker), n + 1, list);
	} while (rc == LZ_FLOW_SHORT && last++ < end);
	for (size_t i = 0; !rc && i < n; i++)
		addrs[i] = list[i + 1];
	free(list);
	free(k.v);
	return rc;
}

int lz_insn_history(struct lz_session *s, enum lz_direction d, size_t n, uint64_t *addrs)
{
	struct lz_nav *nav = lz_nav_of(s);
	struct lz_insn_code *c;
	int rc;

	if (!nav)
		return -1;
	if (!n || !lz_stream_n_blocks(nav->stream) ||
	    lz_stream_fn_at(nav->stream, s->pos.ip, s->pos.event) == LZ_FN_NONE)
		return 1;
	c = lz_insn_code_open(nav, s->pos.event);
	if (!c)
		return -1;
	rc = d == LZ_BACKWARD ? tell_before(nav, c, n, addrs) : tell_after(nav, c, n, addrs);
	lz_insn_code_close(c);
	return rc < 0 ? -1 : rc != 0;
}

/* ---- or by running ---- */

/* Stops of other threads do not count. */
static int step(struct lz_session *s, uint32_t tid, enum lz_direction d, struct lz_stop *stop)
{
	int rc;

	do {
		if (s->rp.interrupted)
			return lz_session_stop_interrupted(s, stop);
		rc = lz_session_step_thread(s, tid, d, stop);
	} while (!rc && d == LZ_FORWARD && !lz_session_at_end(s) &&
	         (stop->reason == LZ_STOP_SIGNAL ||
	          (s->pos.tid != tid && stop->reason != LZ_STOP_THREAD_END)));
	return rc;
}

/* N at most. */
static int run(struct lz_session *s, enum lz_direction d, size_t n, uint64_t *addrs, size_t *found)
{
	struct lz_pos here, now;
	struct lz_stop stop = {0};
	int rc = 0;

	s->nested++;
	lz_session_where(s, &here);
	while (!rc && *found < n) {
		ssize_t k =
		    d == LZ_BACKWARD ? lz_session_back_in_gap(s, n - *found, addrs + *found) : 0;
		*found += k > 0 ? (size_t)k : 0;
		rc = k < 0 ? -1 : *found < n ? step(s, here.tid, d, &stop) : 0;
		if (rc || *found == n ||
		    (stop.reason != LZ_STOP_STEP && stop.reason != LZ_STOP_WATCH))
			break;
		lz_session_where(s, &now);
		addrs[(*found)++] = now.ip;
	}
	s->nested--;
	if (!rc && stop.reason == LZ_STOP_INTERRUPTED)
		rc = lz_fail("interrupted");
	if (lz_session_restore(s, &here) < 0)
		return -1;
	return rc;
}

int lz_session_instructions(struct lz_session *s, enum lz_direction d, size_t skip, size_t n,
                            uint64_t *addrs, size_t *found)
{
	uint64_t *list = malloc((skip + n) * sizeof(*list) + 1);
	int rc;

	*found = 0;
	if (!list)
		return lz_fail("out of memory for the history of instructions");
	lz_session_begin(s);
	size_t have = skip + n;
	rc = lz_insn_history(s, d, have, list);
	if (rc > 0) {
		have = 0;
		rc = run(s, d, skip + n, list, &have);
	}
	if (!rc && have > skip) {
		*found = have - skip;
		memcpy(addrs, list + skip, *found * sizeof(*addrs));
	}
	free(list);
	return rc;
}
