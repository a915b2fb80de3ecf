/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Engines at the starts of gaps: from the present, a snapshot or a checkpoint,
 * whichever is nearest. On the way to a far gap copies are kept at shrinking distances before
 * it, so that later moves near it are short. */
#include "replayer/session/session.h"
#include <common/base/clock.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* In a long run a copy is kept each time that this much time has gone by. */
enum { SNAPSHOT_MS = 100, SNAPSHOT_MARKERS = 8 << 20 };

/* Restoring a checkpoint takes about as long as running over this much. */
enum { RESTORE_MARKERS = 4 << 20, RESTORE_EVENTS = 4000 };

/* Copies nearer than that (in restores) are all equally near. */
static const double NEAR = 2048.0 / RESTORE_MARKERS;

/* ---- snapshots ---- */

/* How far it is from (event, marker) to the target, in units of a restore. */
static double distance(uint64_t event, uint64_t marker, uint64_t to_event, uint64_t to_marker)
{
	return (double)(to_marker - marker) / RESTORE_MARKERS +
	       (double)(to_event - event) / RESTORE_EVENTS;
}

/* The same in either direction. */
static double apart(const struct lz_engine *a, const struct lz_engine *b)
{
	bool behind = lz_gap_cmp(a->event, a->marker, b->event, b->marker) > 0;
	const struct lz_engine *from = behind ? b : a, *to = behind ? a : b;

	return distance(from->event, from->marker, to->event, to->marker);
}

static struct lz_snapshot *best_snapshot(struct lz_session *s, uint64_t event, uint64_t marker)
{
	struct lz_snapshot *best = NULL;

	for (int i = 0; i < LZ_SNAPSHOTS; i++) {
		struct lz_snapshot *k = &s->snap[i];
		if (!k->e || lz_gap_cmp(k->e->event, k->e->marker, event, marker) > 0)
			continue;
		if (!best ||
		    lz_gap_cmp(k->e->event, k->e->marker, best->e->event, best->e->marker) > 0)
			best = k;
	}
	return best;
}

/* What it would cost to be without K, for one who is at HERE: to run from the copy before it,
 * the less the further away that is from where one is likely to go. */
static double worth(struct lz_session *s, struct lz_snapshot *k, const struct lz_engine *here)
{
	struct lz_engine *e = k->e;
	struct lz_snapshot *before;

	k->e = NULL;
	before = best_snapshot(s, e->event, e->marker);
	k->e = e;
	return (before ? apart(before->e, e) : distance(0, 0, e->event, e->marker)) /
	       (apart(e, here) + NEAR);
}

/* A free slot, or that of the copy which is worth least. */
static struct lz_snapshot *slot_for(struct lz_session *s, const struct lz_engine *here)
{
	struct lz_snapshot *slot = NULL;
	double least = 0;

	for (int i = 0; i < LZ_SNAPSHOTS; i++) {
		struct lz_snapshot *k = &s->snap[i];
		if (!k->e)
			return k;
		double w = worth(s, k, here);
		if (!slot || w < least) {
			slot = k;
			least = w;
		}
	}
	return slot;
}

int lz_snapshot_keep(struct lz_session *s, struct lz_engine *e)
{
	struct lz_snapshot *slot = best_snapshot(s, e->event, e->marker);

	if (slot && slot->e->event == e->event && slot->e->marker == e->marker)
		return 0;
	struct lz_engine *copy = lz_engine_fork(e);
	if (!copy)
		return -1;
	slot = slot_for(s, e);
	lz_engine_free(slot->e);
	slot->e = copy;
	return 0;
}

int lz_snapshot_maybe(struct lz_session *s, struct lz_engine *e)
{
	uint64_t now = lz_now() / 1000000;

	if (now - s->last_kept_ms < SNAPSHOT_MS)
		return 0;
	s->last_kept_ms = now;
	return lz_snapshot_keep(s, e);
}

uint64_t lz_snapshot_plan(struct lz_session *s, struct lz_engine *e)
{
	if (s->planned <= e->marker || s->planned > e->marker + 2 * SNAPSHOT_MARKERS) {
		int64_t at = s->rp.stream_len > e->marker + SNAPSHOT_MARKERS
		                 ? lz_block_start(s, e->marker + SNAPSHOT_MARKERS)
		                 : -1;
		s->planned = at > (int64_t)e->marker ? (uint64_t)at : UINT64_MAX;
	}
	return s->planned;
}

/* ---- checkpoints ---- */

bool lz_checkpoint_starts_gap(struct lz_session *s, const struct lz_checkpoint *ck)
{
	const struct lz_event *ev;

	if (!ck->index)
		return true;
	if (!(ev = lz_session_event_before(s, ck->pos.event)) || ev->marker != ck->pos.marker)
		return false;
	if (ev->flags & LZ_EVF_REBASE)
		return true;
	if (ev->has_regs)
		return lz_regs_equal(&ev->regs, &ck->threads[0].regs);
	const struct user_regs_struct *r = &ck->threads[0].regs;
	return ev->kind == LZ_EV_SYSCALL && r->rip == ev->ip && r->rcx == ev->ip &&
	       r->rax == (uint64_t)ev->result;
}

/* The last checkpoint from which the gap's start can be reached. -1: failed. */
static int64_t best_checkpoint(struct lz_session *s, uint64_t event, uint64_t marker)
{
	struct lz_reader *r = s->rp.reader;
	uint32_t n = lz_reader_n_checkpoints(r);
	uint32_t i = lz_reader_checkpoint_before(r, event, marker);

	if (i >= n)
		return 0;
	for (; i > 0; i--) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);
		if (!ck)
			return -1;
		int c = lz_gap_cmp(ck->pos.event, ck->pos.marker, event, marker);
		if (c < 0 || (c == 0 && lz_checkpoint_starts_gap(s, ck)))
			break;
	}
	return i;
}

/* ---- engines ---- */

static struct lz_engine *base_for(struct lz_session *s, uint64_t event, uint64_t marker)
{
	struct lz_snapshot *snap = best_snapshot(s, event, marker);
	struct lz_engine *live = snap ? snap->e : NULL;
	struct lz_engine *e = s->e;

	if (e && !s->lost) {
		int c = lz_gap_cmp(e->event, e->marker, event, marker);
		if ((c < 0 || (c == 0 && !s->away && lz_session_at_gap(s))) &&
		    (!live || lz_gap_cmp(e->event, e->marker, live->event, live->marker) >= 0))
			live = e;
	}
	int64_t i = best_checkpoint(s, event, marker);
	const struct lz_checkpoint *ck =
	    i < 0 ? NULL : lz_reader_checkpoint(s->rp.reader, (uint32_t)i);
	if (!ck)
		return NULL;
	if (!live || distance(live->event, live->marker, event, marker) >
	                 1 + distance(ck->pos.event, ck->pos.marker, event, marker))
		return lz_engine_new(&s->rp, (uint32_t)i);
	return lz_engine_fork(live);
}

/* The first gap that begins at the checkpoint or behind it. Zero: it is not known. */
static struct lz_gap_start gap_of(struct lz_session *s, const struct lz_checkpoint *ck)
{
	struct lz_gap_start gap = {0};

	if (lz_checkpoint_starts_gap(s, ck))
		return (struct lz_gap_start){ck->pos.event, ck->pos.marker};
	const uint64_t next = lz_engine_next_kept(s->e, ck->pos.marker);
	if (next != UINT64_MAX)
		gap = (struct lz_gap_start){lz_gap_event(s, next), next};
	return gap;
}

static bool is_behind(const struct lz_gap_start *a, const struct lz_gap_start *b)
{
	return lz_gap_cmp(a->event, a->marker, b->event, b->marker) > 0;
}

struct lz_gap_start lz_session_base(struct lz_session *s, struct lz_gap_start gap)
{
	const struct lz_snapshot *copy = best_snapshot(s, gap.event, gap.marker);
	const int64_t i = best_checkpoint(s, gap.event, gap.marker);
	const struct lz_checkpoint *ck =
	    i < 0 ? NULL : lz_reader_checkpoint(s->rp.reader, (uint32_t)i);
	struct lz_gap_start at = {0}, other;

	if (copy)
		at = (struct lz_gap_start){copy->e->event, copy->e->marker};
	if (!ck)
		return at;
	other = gap_of(s, ck);
	return is_behind(&other, &gap) || is_behind(&at, &other) ? at : other;
}

static int rung(struct lz_session *s, struct lz_engine *e, uint64_t event, uint64_t marker)
{
	if (lz_gap_cmp(e->event, e->marker, event, marker) >= 0)
		return 0;
	int ret = lz_engine_to_gap(e, event, marker);
	return ret ? ret : lz_snapshot_keep(s, e);
}

static int climb_markers(struct lz_session *s, struct lz_engine *e, uint64_t event, uint64_t marker)
{
	static const uint64_t distances[] = {16 << 20,  4 << 20,  1 << 20,
	                                     128 << 10, 16 << 10, 2 << 10};

	for (unsigned i = 0; i < sizeof distances / sizeof *distances; i++) {
		uint64_t d = distances[i];
		struct lz_snapshot *near = best_snapshot(s, event, marker);
		if (marker < d || e->marker + d >= marker ||
		    (near && near->e->marker + d >= marker))
			continue;
		int64_t at = lz_marker_boundary_near(s, marker - d);
		if (at < 0)
			return -1;
		if ((uint64_t)at <= e->marker)
			continue;
		uint64_t ev = lz_gap_event(s, (uint64_t)at);
		if (lz_gap_cmp(ev, (uint64_t)at, event, marker) >= 0)
			continue;
		int ret = rung(s, e, ev, (uint64_t)at);
		if (ret)
			return ret;
	}
	return 0;
}

static int climb_events(struct lz_session *s, struct lz_engine *e, uint64_t event, uint64_t marker)
{
	static const uint64_t distances[] = {1024, 128, 16, 1};

	for (unsigned i = 0; i < 4; i++) {
		uint64_t d = distances[i];
		struct lz_snapshot *near = best_snapshot(s, event, marker);
		if (event <= d || e->event + d >= event || (near && near->e->event + d >= event))
			continue;
		const struct lz_event *ev = lz_reader_event(s->rp.reader, event - d - 1);
		if (!ev)
			return -1;
		int ret = rung(s, e, event - d, ev->marker);
		if (ret)
			return ret;
	}
	return 0;
}

static struct lz_engine *engine_at(struct lz_session *s, uint64_t event, uint64_t marker, int *ret)
{
	struct lz_engine *e = base_for(s, event, marker);

	s->rp.diverged = false;
	*ret = -1;
	if (!e)
		return NULL;
	if (marker - e->marker > 4096)
		*ret = climb_markers(s, e, event, marker);
	else
		*ret = climb_events(s, e, event, marker);
	if (!*ret)
		*ret = lz_engine_to_gap(e, event, marker);
	if (!*ret)
		return e;
	lz_engine_free(e);
	return NULL;
}

struct lz_engine *lz_session_engine_at(struct lz_session *s, uint64_t event, uint64_t marker,
                                       int *ret)
{
	const bool stops = s->rp.stop_at_calls;
	struct lz_engine *e = engine_at(s, event, marker, ret);

	return !e && *ret == 1 && s->rp.stop_at_calls != stops ? engine_at(s, event, marker, ret)
	                                                       : e;
}
