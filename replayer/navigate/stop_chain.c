/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/array.h>
#include <lizard/error.h>
#include "replayer/navigate/stop_chain.h"
#include "replayer/session/session.h"

enum { MAX_CHAIN = 1 << 20 }; /* stops: longer than any walk */

static struct lz_chain_stop frame_here(struct lz_nav *nav)
{
	struct lz_chain_stop stop = {0};

	stop.cfa = lz_gdb_frame(&nav->machine, &stop.inlines);
	stop.hides = lz_gdb_hides(&nav->machine);
	return stop;
}

static int add_stop(struct lz_nav *nav, struct lz_chain *c, const struct lz_pos *pos, bool left)
{
	if (lz_reserve(c->stop, c->cap, c->n + 1) < 0)
		return lz_fail("out of memory for a chain of %zu stops", c->n);
	c->stop[c->n] = frame_here(nav);
	c->stop[c->n].left = left;
	c->stop[c->n++].pos = *pos;
	return 0;
}

static bool is_behind(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->event > b->event || a->marker > b->marker;
}

/* The goal was passed by `next` from FROM: in an inlined call made there? Then again from FROM,
 * and into it. */
static enum lz_step_result into_inlined(struct lz_nav *nav, const struct lz_pos *from)
{
	uint32_t inlines, inner;
	uint64_t cfa = lz_gdb_frame(&nav->machine, &inner);

	if (!inner)
		return LZ_STEP_PASSED;
	if (lz_session_seek(nav->s, from))
		return LZ_STEP_FAILED;
	if (lz_gdb_frame(&nav->machine, &inlines) == cfa && inlines < inner)
		return lz_gdb_step(&nav->machine, LZ_OVER_CALLS);
	return lz_session_seek(nav->s, &nav->goal) ? LZ_STEP_FAILED : LZ_STEP_PASSED;
}

/* One step of a chain. *left: it left code without lines. */
static enum lz_step_result chain_step(struct lz_nav *nav, bool next, const struct lz_pos *from,
                                      bool *left)
{
	struct lz_machine *m = &nav->machine;
	bool before = m->left_unknown;
	enum lz_step_result r;

	m->left_unknown = false;
	r = lz_gdb_step(m, next ? LZ_OVER_ALL : LZ_OVER_NOTHING);
	if (r == LZ_STEP_PASSED && next)
		r = into_inlined(nav, from);
	*left = m->left_unknown;
	m->left_unknown |= before;
	return r;
}

/* Steps from the present instant on, up to the goal. */
int lz_chain_build_here(struct lz_nav *nav, bool next, struct lz_chain *c, enum chain_end *end)
{
	struct lz_pos now, before;

	c->n = 0;
	c->next = next;
	c->from = frame_here(nav);
	nav->machine.left_unknown = false;
	nav->interrupted = false;
	nav->handler.event = 0;
	lz_session_where(nav->s, &now);
	while (c->n < MAX_CHAIN) {
		enum lz_step_result r;
		bool left;

		if (is_behind(&now, &nav->goal))
			break;
		before = now;
		r = chain_step(nav, next, &before, &left);
		lz_session_where(nav->s, &now);
		switch (r) {
		case LZ_STEP_SIGNAL:
			if (lz_pos_same(&now, &before))
				continue; /* reported; the next step takes it */
			                  /* fall through */
		case LZ_STEPPED:
			if (lz_pos_same(&now, &before))
				goto lost;
			if (add_stop(nav, c, &now, left))
				return -1;
			if (!lz_pos_same(&now, &nav->goal))
				continue;
			*end = CHAIN_ARRIVED;
			return 0;
		case LZ_STEP_PASSED: *end = CHAIN_PASSED; return 0;
		case LZ_STEP_OVER: *end = CHAIN_OVER; return 0;
		case LZ_STEP_END:
			*end = lz_pos_same(&now, &nav->goal) ? CHAIN_PASSED : CHAIN_LOST;
			return 0;
		default: goto lost;
		}
	}
lost:
	*end = CHAIN_LOST;
	return nav->interrupted || nav->gave_up ? -1 : 0;
}

int lz_chain_seek(struct lz_nav *nav, uint64_t anchor)
{
	if (!lz_session_seek_time(nav->s, anchor))
		return 0;
	nav->interrupted = nav->s->rp.interrupted;
	return -1;
}

int lz_chain_build(struct lz_nav *nav, uint64_t anchor, bool next, struct lz_chain *c,
                   enum chain_end *end)
{
	return lz_chain_seek(nav, anchor) ? -1 : lz_chain_build_here(nav, next, c, end);
}

bool lz_chain_is_deeper(const struct lz_chain_stop *a, const struct lz_chain_stop *b)
{
	return a->cfa < b->cfa || (a->cfa == b->cfa && a->inlines > b->inlines);
}

/* The last of the first N stops that is not in a deeper frame than AT. */
static const struct lz_chain_stop *outer_of(const struct lz_chain *c, size_t n,
                                            const struct lz_chain_stop *at, bool *sure)
{
	size_t i = n;

	/* A stop of `next` in a called function, of which GDB did not see the call: an asm
	 * statement's. */
	*sure = c->next && n && c->stop[n - 1].cfa < at->cfa && !lz_chain_is_deeper(&c->from, at);
	if (*sure)
		return &c->stop[n - 1];
	while (i && lz_chain_is_deeper(&c->stop[i - 1], at))
		i--;
	for (size_t k = i; k > 0 && !*sure; k--) {
		/* The anchor may be a piece of the caller's in the midst of an inlined call, to
		 * the rest of which `next` led. */
		if (k == 1 && c->next && c->stop[0].hides)
			break;
		*sure = !lz_chain_is_deeper(k > 1 ? &c->stop[k - 2] : &c->from, at);
	}
	return i ? &c->stop[i - 1] : NULL;
}

const struct lz_chain_stop *lz_chain_predecessor(const struct lz_chain *c, enum chain_end end)
{
	size_t n = end == CHAIN_ARRIVED ? c->n - 1 : end == CHAIN_PASSED ? c->n : 0;

	return n ? &c->stop[n - 1] : NULL;
}

const struct lz_chain_stop *lz_chain_outer(struct lz_nav *nav, const struct lz_chain *c,
                                           enum chain_end end, bool *sure)
{
	size_t n = end == CHAIN_ARRIVED ? c->n - 1 : end == CHAIN_PASSED ? c->n : 0;
	struct lz_chain_stop goal = frame_here(nav);

	return outer_of(c, n, &goal, sure);
}

static bool in_scope(const struct lz_chain_stop *stop, const struct lz_chain_stop *goal,
                     enum lz_scope scope)
{
	switch (scope) {
	case LZ_SCOPE_FRAME: return stop->cfa >= goal->cfa;
	case LZ_SCOPE_OUTER: return !lz_chain_is_deeper(stop, goal);
	default: return true;
	}
}

bool lz_chain_in_scope(struct lz_nav *nav, const struct lz_chain_stop *stop, enum lz_scope scope)
{
	struct lz_chain_stop goal = frame_here(nav);

	return in_scope(stop, &goal, scope);
}

const struct lz_chain_stop *lz_chain_last(struct lz_nav *nav, const struct lz_chain *c,
                                          enum chain_end end, enum lz_scope scope)
{
	size_t n = end == CHAIN_ARRIVED ? c->n - 1 : end == CHAIN_PASSED ? c->n : 0;
	struct lz_chain_stop goal = {0};
	bool sure;

	if (scope == LZ_SCOPE_OUTER)
		return lz_chain_outer(nav, c, end, &sure);
	if (scope != LZ_SCOPE_ALL)
		goal = frame_here(nav);
	while (n && !in_scope(&c->stop[n - 1], &goal, scope))
		n--;
	return n ? &c->stop[n - 1] : NULL;
}

const struct lz_chain_stop *lz_chain_before(const struct lz_chain *c, const struct lz_pos *pos,
                                            bool outer)
{
	const struct lz_chain_stop *found;
	bool sure = true;

	for (size_t i = c->n; i-- > 1;) {
		if (!lz_pos_same(&c->stop[i].pos, pos))
			continue;
		if (!outer && c->stop[i].left)
			return NULL;
		found = outer ? outer_of(c, i, &c->stop[i], &sure) : &c->stop[i - 1];
		return sure ? found : NULL;
	}
	return NULL;
}

bool lz_chain_goal_has_line(struct lz_nav *nav)
{
	uint64_t bias;
	struct lz_lines *l = nav->machine.lines(nav, nav->goal.ip, &bias);

	return l && lz_lines_find(l, nav->goal.ip - bias).line;
}

void lz_chain_keep(struct lz_chain *kept, struct lz_chain *c)
{
	struct lz_chain old = *kept;

	*kept = *c;
	*c = old;
}
