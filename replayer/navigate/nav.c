/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <lizard/error.h>
#include "replayer/navigate/nav.h"
#include "replayer/session/session.h"

static void free_nav(void *companion)
{
	struct lz_nav *nav = companion;

	lz_stream_free(nav->stream);
	lz_stream_threads_free(&nav->threads);
	lz_modules_free(nav->modules);
	free(nav->step.stop);
	free(nav->next.stop);
	lz_results_free(&nav->steps);
	lz_results_free(&nav->nexts);
	free(nav);
}

struct lz_nav *lz_nav_of(struct lz_session *s)
{
	struct lz_nav *nav = s->companion;
	const struct lz_turns *turns;

	if (nav)
		return nav;
	nav = calloc(1, sizeof(*nav));
	if (!nav) {
		lz_fail("out of memory for navigation");
		return NULL;
	}
	nav->s = s;
	nav->modules = lz_modules_new(s->rp.reader);
	turns = nav->modules ? lz_replay_turns(&s->rp) : NULL;
	if (turns && !lz_stream_threads_init(&nav->threads, turns))
		nav->stream = lz_stream_new(s->rp.reader, nav->modules, &nav->threads);
	if (!nav->stream) {
		free_nav(nav);
		return NULL;
	}
	lz_nav_machine(nav);
	s->companion = nav;
	s->free_companion = free_nav;
	return nav;
}

int lz_session_read_ahead(struct lz_session *s)
{
	struct lz_nav *nav = lz_nav_of(s);

	return nav ? lz_stream_index_ahead(nav->stream) : -1;
}

/* A thread that gets its turn again is at the instant at which it was switched away from: that
 * is how a walk within it comes there. */
static int same_before_switch(struct lz_nav *nav)
{
	const struct lz_turns *turns = nav->threads.turns;

	for (;;) {
		struct lz_pos *g = &nav->goal;
		const struct lz_turn *turn = &turns->v[lz_turns_at(turns, g->event)];
		struct lz_turn_end end;

		if (!turn->switched || turn->returns || turn->before == LZ_NO_TURN)
			return 0;
		if (g->event != turn->event || g->marker != turn->marker || g->ip != turn->ip ||
		    g->n != 1)
			return 0;
		if (lz_session_turn_before(nav->s, g->tid, g->event, &end))
			return -1;
		*g = end.pos;
	}
}

int lz_nav_aim(struct lz_nav *nav, const struct lz_pos *goal)
{
	nav->goal = *goal;
	nav->thread = lz_stream_thread_at(&nav->threads, goal->event);
	return same_before_switch(nav);
}

/* The marker boundary at or before AT, which is not in front of what the thread has written
 * there. */
static int64_t own_boundary(struct lz_nav *nav, uint64_t at)
{
	const struct lz_stream_threads *t = &nav->threads;
	int64_t boundary = lz_marker_boundary(nav->s, at);
	uint32_t turn = lz_stream_thread_turn_before(t, nav->thread, at);

	if (boundary >= 0 && turn != LZ_NO_TURN && (uint64_t)boundary <= t->turns->v[turn].marker)
		return (int64_t)lz_engine_next_marker(nav->s->e, t->turns->v[turn].marker);
	return boundary;
}

int64_t lz_nav_own_back(struct lz_nav *nav, uint64_t offset, uint64_t distance)
{
	bool first;
	uint64_t at = lz_stream_thread_back(&nav->threads, nav->thread, offset, distance, &first);

	return first ? (int64_t)lz_nav_own_first(nav) : own_boundary(nav, at);
}

int64_t lz_nav_own_end(struct lz_nav *nav, uint64_t offset)
{
	bool first;
	uint64_t at = lz_stream_thread_back(&nav->threads, nav->thread, offset, 0, &first);

	return first ? 0 : own_boundary(nav, at);
}

uint64_t lz_nav_own_first(struct lz_nav *nav)
{
	const struct lz_stream_threads *t = &nav->threads;
	uint64_t len = lz_stream_len(nav->stream);
	uint32_t i = t->first[nav->thread];

	for (; i != LZ_NO_TURN; i = t->turns->v[i].after) {
		uint64_t start = t->turns->v[i].marker;

		if (start < lz_turn_end(t, i) && start < len)
			return lz_engine_next_marker(nav->s->e, start);
	}
	return 0;
}

bool lz_nav_left(struct lz_nav *nav, uint64_t offset, struct lz_act *act)
{
	int64_t at = lz_nav_own_end(nav, offset);
	struct lz_decoder *d = at > 0 ? lz_stream_stack(nav->stream, at, nav->thread) : NULL;
	size_t depth = d ? d->n : 0;

	d = at > 0 ? lz_stream_stack(nav->stream, at - 1, nav->thread) : NULL;
	if (!d || d->n <= depth)
		return false;
	*act = *lz_decoder_top(d);
	return true;
}

int lz_nav_index(struct lz_nav *nav, uint64_t marker)
{
	const struct lz_replay *rp = &nav->s->rp;
	const uint32_t last = lz_stream_block_of(nav->stream, marker);
	const uint32_t first = lz_stream_indexed(nav->stream);

	if (first && first <= last)
		lz_reader_expect(rp->reader, rp->tid, first - 1, last + 1);
	for (uint32_t i = first; i <= last; i++) {
		if (rp->interrupted)
			return 1;
		if (lz_stream_index(nav->stream, i))
			return -1;
	}
	return 0;
}
