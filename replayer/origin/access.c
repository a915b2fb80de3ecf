/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run with one watchpoint, of a kind that counts touches. What it finds is looked at: the
 * watchpoint may be wider than what is asked for. */
#include "replayer/origin/access.h"
#include "replayer/origin/assigned.h"
#include "replayer/origin/own_stops.h"
#include "replayer/origin/return_place.h"
#include "replayer/navigate/jump.h"
#include "replayer/program/operands.h"
#include <lizard/error.h>

/* ---- what comes next here ---- */

static bool is_here(const struct lz_session *s, const struct lz_event *ev)
{
	return ev->marker == s->pos.marker &&
	       (s->pos.ip == ev->ip || (ev->kind == LZ_EV_SYSCALL && s->pos.ip == ev->ip - 2));
}

static bool gives(const struct lz_event *ev, const struct lz_access_query *q)
{
	const struct lz_user_watch w = {.addr = q->addr, .len = q->len, .kind = 's'};

	return lz_watch_event(&w, ev, NULL);
}

static bool takes(struct lz_session *s, const struct lz_event *ev, const struct lz_access_query *q)
{
	const struct lz_user_watch w = {.addr = q->addr, .len = q->len, .kind = 'l'};

	return lz_watch_event(&w, ev, (struct lz_arrival *)s->e);
}

static void look_at_insn(struct lz_session *s, const struct lz_access_query *q,
                         struct lz_accessed *a)
{
	const struct user_regs_struct *r = lz_engine_regs(s->e);
	uint8_t code[LZ_INSN_LONGEST];
	struct lz_touch v[LZ_TOUCHES];
	struct lz_decoded i;
	const size_t len = lz_engine_read(s->e, r->rip, code, sizeof code);

	if (!lz_insn_decode(code, len, &i))
		return;
	const size_t n = lz_insn_touches(&i, r, v);
	for (size_t k = 0; k < n; k++)
		if (lz_overlap(v[k].addr, v[k].len, q->addr, q->len)) {
			a->read |= v[k].reads;
			a->written |= v[k].writes;
		}
}

static void look(struct lz_session *s, const struct lz_access_query *q, struct lz_accessed *a)
{
	const struct lz_event *ev = lz_session_next_event(s);

	*a = (struct lz_accessed){0};
	if (!lz_engine_in_kernel(s->e))
		look_at_insn(s, q, a);
	if (a->read || a->written || !ev || !is_here(s, ev))
		return;
	a->written = gives(ev, q);
	a->read = takes(s, ev, q);
	a->by_event = a->written || a->read;
	a->event = ev->index;
}

static bool fits(const struct lz_accessed *a, char kind)
{
	return kind == 's' ? a->written : kind == 'l' ? a->read : a->read || a->written;
}

/* ---- the run ---- */

static bool begins_frame(void *arg, uint64_t addr, struct lz_arrival *a)
{
	const struct lz_access_query *q = arg;
	struct user_regs_struct r;

	(void)addr;
	return lz_arrival_regs(a, &r) < 0 || r.rsp == q->frame.sp;
}

static int begin(struct lz_session *s, const struct lz_access_query *q, struct lz_own_stops *users)
{
	lz_own_stops_begin(s, users);
	s->not_before = (struct lz_gap_start){q->from.event, q->from.marker};
	s->nested++;
	if (q->frame.entry &&
	    lz_own_break(s, q->frame.entry, begins_frame, (void *)(uintptr_t)q) < 0)
		return -1;
	if (lz_session_watch(s, q->addr, q->len, q->kind) < 0)
		return -1;
	s->watches[0].code = q->code;
	return 0;
}

static void end(struct lz_session *s, const struct lz_own_stops *users)
{
	lz_own_stops_end(s, users);
	s->not_before = (struct lz_gap_start){0};
	s->nested--;
}

/* How a run ended that did not find anything: as lz_access_go(). */
static int ended(const struct lz_stop *stop)
{
	switch (stop->reason) {
	case LZ_STOP_INTERRUPTED: return LZ_ACCESS_INTERRUPTED;
	case LZ_STOP_BREAKPOINT: return LZ_ACCESS_FRAME;
	case LZ_STOP_DIVERGED: return lz_fail("replay diverged");
	default: return LZ_ACCESS_NONE;
	}
}

/* From behind the access that a run forwards has found to right before it. */
static int to_before(struct lz_session *s)
{
	const struct lz_event *ev = s->pos.event ? lz_session_event_before(s, s->pos.event) : NULL;
	struct lz_stop stop;
	struct lz_pos to;

	if (ev && lz_session_at_gap(s) && ev->marker == s->pos.marker) {
		int ret = lz_session_before_event(s, ev, &to);
		return ret ? ret : lz_session_seek(s, &to);
	}
	if (lz_session_step(s, LZ_BACKWARD, &stop) < 0)
		return -1;
	return stop.reason == LZ_STOP_INTERRUPTED ? 2 : 0;
}

static int step_on(struct lz_session *s)
{
	struct lz_stop stop;

	do
		if (lz_session_step(s, LZ_FORWARD, &stop) < 0)
			return -1;
	while (stop.reason == LZ_STOP_SIGNAL && !s->at_end);
	return stop.reason == LZ_STOP_STEP || stop.reason == LZ_STOP_WATCH ? 0 : ended(&stop);
}

/* The next one that the watchpoint tells. */
static int one(struct lz_session *s, const struct lz_access_query *q)
{
	struct lz_stop stop;

	if (lz_session_run(s, q->direction, &stop) < 0)
		return -1;
	if (stop.reason != LZ_STOP_WATCH)
		return ended(&stop);
	return q->direction == LZ_FORWARD ? to_before(s) : 0;
}

static int search(struct lz_session *s, const struct lz_access_query *q, struct lz_accessed *a)
{
	const bool forward = q->direction == LZ_FORWARD;

	for (bool on = forward && !q->here;; on = forward) {
		int ret = on ? step_on(s) : 0;
		if (!ret)
			ret = one(s, q);
		if (ret)
			return ret;
		look(s, q, a);
		if (fits(a, q->kind))
			return 0;
	}
}

/* ---- by what the compiler knows ---- */

/* So near it is found by running. */
enum { NEAR_MARKERS = 1 << 15, READ_AS_RUN = 64 };

static bool may_be_assigned(const struct lz_access_query *q)
{
	return q->direction == LZ_BACKWARD && q->kind == 's' && !q->code.end &&
	       q->len <= LZ_ASSIGNED_MAX && (!q->frame.entry || q->frame.local);
}

/* How far back it is to be run, before markers are read. False: all of it. */
static bool near_gap(struct lz_session *s, struct lz_gap_start *near)
{
	const uint64_t reading = lz_find_last_cost(s, s->pos.marker) / READ_AS_RUN;
	const uint64_t far = reading > NEAR_MARKERS ? reading : NEAR_MARKERS;

	if (s->pos.marker <= far)
		return false;
	const int64_t at = lz_marker_boundary_near(s, s->pos.marker - far);
	if (at <= 0)
		return false;
	*near = (struct lz_gap_start){lz_gap_event(s, (uint64_t)at), (uint64_t)at};
	return lz_gap_cmp(near->event, near->marker, s->not_before.event, s->not_before.marker) > 0;
}

/* What the user sees. */
struct seen {
	struct lz_pos now;
	uint8_t value[LZ_ASSIGNED_MAX];
};

static int search_far(struct lz_session *s, const struct lz_access_query *q,
                      const struct seen *seen, struct lz_gap_start near, struct lz_accessed *a)
{
	const struct lz_quiet *quiet = lz_quiet_of(s);

	if (lz_quiet_covers(quiet, near))
		near = quiet->from;
	if (lz_session_seek_gap(s, near.event, near.marker) < 0)
		return -1;
	const int ret = lz_assigned_last(s, q, &seen->now, seen->value);
	if (ret && ret != LZ_ASSIGNED_UNKNOWN)
		return ret;
	if (!ret)
		look(s, q, a);
	return !ret && a->written ? 0 : search(s, q, a);
}

static int search_back(struct lz_session *s, const struct lz_access_query *q, struct lz_accessed *a)
{
	const struct lz_gap_start bound = s->not_before;
	struct seen seen = {.now = s->pos};
	struct lz_gap_start near;

	if (!may_be_assigned(q) || !near_gap(s, &near) ||
	    lz_session_read(s, q->addr, seen.value, q->len) != q->len)
		return search(s, q, a);
	s->not_before = near;
	const int ret = search(s, q, a);
	s->not_before = bound;
	return ret == LZ_ACCESS_NONE ? search_far(s, q, &seen, near, a) : ret;
}

int lz_access_go(struct lz_session *s, const struct lz_access_query *q, struct lz_accessed *a)
{
	struct lz_own_stops users;
	struct lz_return_place here;

	if (!q->len || q->len > LZ_ACCESS_MAX)
		return lz_fail("an access to %lu bytes cannot be searched for",
		               (unsigned long)q->len);
	lz_session_begin(s);
	if (lz_return_keep(s, &here) < 0)
		return -1;
	int ret = begin(s, q, &users);
	if (!ret)
		ret = search_back(s, q, a);
	end(s, &users);
	if (ret && lz_return_to(s, &here) < 0)
		ret = -1;
	lz_return_drop(&here);
	return ret;
}
