/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program has been stopped at any instruction, by a signal or for the end of its turn. In code
 * with markers the offset of the last marker and the address name nearly each instant: an activation
 * arrives there once before it comes to the next marker. Another one can in between only if the
 * program changes stacks by itself: the state tells the two apart.
 *
 * In other code control may have come there any number of times since the last marker or event. Of
 * these arrivals the first is meant at which all is as it is now that can have changed since. If one
 * before was the same in all that, the program went round in a circle, and it makes no difference
 * which is taken. */
#include "tracer/calls/fast.h"
#include "tracer/calls/rseq.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/run/run.h"
#include "tracer/signals/signals.h"

#include <common/process/state_sum.h>

/* A marker that does not fit any more has not met the guard page yet: replay would meet it
 * before. */
bool lz_may_not_fit(struct lz_tracer *t)
{
	const struct lz_stream *s = &t->s;

	return s->mem && lz_stream_offset(t) - s->start + LZ_MARKER_MAX_SIZE > LZ_BUFFER_GUARD;
}

/* Another thread's call may still store to the stack there: memory is as the log has it in replay. */
static bool is_settled(const struct lz_tracer *t, uint64_t rsp)
{
	const uint64_t from = lz_state_from(rsp);

	return !lz_blocked_overlaps(t, from, rsp + LZ_STATE_ABOVE - from);
}

/* In checking mode a marker is more than its stores and its add. */
bool lz_may_end_at(struct lz_tracer *t, const struct user_regs_struct *r)
{
	return !t->s.checking && !lz_may_not_fit(t) && !lz_fast_inside(t, r) &&
	       !lz_rseq_inside(t, r->rip) && !lz_stream_inside_marker(t, r) &&
	       !lz_at_rep(t, r->rip) && is_settled(t, r->rsp);
}

static bool is_named(struct lz_tracer *t, const struct user_regs_struct *r)
{
	return t->s.mem && lz_marked_once(t, r->rip) && lz_may_end_at(t, r);
}

/* Else the markers are parsed up to here, half a buffer in the mean: 30 us in a hot loop. */
static int ask_pointer(struct lz_tracer *t, const struct user_regs_struct *r)
{
	return t->s.mem && !t->s.checking && lz_marked_pointer(t, r->rip) ? lz_stream_pointer(t, r)
	                                                                  : 0;
}

int lz_anywhere(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (ask_pointer(t, r) < 0)
		return -1;
	if (!is_named(t, r))
		return 0;
	if (lz_instant_counted(t, r, lz_state_sum(&t->p, r)) < 0)
		return -1;
	t->cur->at_midway = true;
	return 1;
}

/* Replay stops at each arrival since the last marker or event. So the event is to be near; or there
 * has been a marker, whose time nobody knows, and this is no loop. */
static bool arrives_seldom(struct lz_tracer *t, uint64_t at)
{
	enum { LATELY_NS = 5000 };

	lz_stop_time_over();
	return lz_elapsed(t) - t->b.ev.time_ns < LATELY_NS ||
	       (lz_stream_offset(t) != t->last_marker && !lz_in_loop(t, at));
}

int lz_anywhere_unmarked(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (!lz_may_end_at(t, r) || !arrives_seldom(t, r->rip))
		return 0;
	const uint64_t vectors = lz_vectors_sum(&t->p);
	const int known = vectors == UINT64_MAX ? 0 : lz_pages_written(t, &t->named);

	if (known <= 0)
		return known;
	if (lz_instant_unmarked(t, r, lz_state_sum(&t->p, r), vectors) < 0)
		return -1;
	t->cur->at_midway = true;
	return 1;
}
