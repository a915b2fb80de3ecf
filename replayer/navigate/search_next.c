/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prev: which of the stops before the present position is the answer. */
#include <stdlib.h>
#include <lizard/error.h>
#include "replayer/navigate/stop_chain.h"
#include "replayer/navigate/search_own.h"
#include "replayer/session/session.h"

enum { MAX_PIECES = 16 }; /* of inlined calls on one line: `step` stops there, `next` may not */
enum {
	NEAR = 1024, /* bytes of markers: so far `step` is walked for another way to the goal */
	CALL_FAR = 1 << 20 /* so far a call is run over again for the line that makes it */
};

/* In code without markers: `next` from the stop from which `step` leads here, which may be in a
 * callee. It stops in the loader, `step` does not. 1: found. */
static int search_unmarked(struct lz_nav *nav, struct lz_chain *c, struct lz_pos *answer)
{
	const struct lz_chain_stop *p;
	enum chain_end end;
	struct lz_pos from;
	bool sure;
	int rc = lz_search_step(nav, LZ_SCOPE_ALL, &from);

	if (rc != 1)
		return rc;
	if (lz_session_seek(nav->s, &from) || lz_chain_build_here(nav, true, c, &end))
		return -1;
	if (end != CHAIN_ARRIVED)
		return 0;
	p = lz_chain_outer(nav, c, end, &sure);
	if (!p || !sure)
		return 0;
	*answer = p->pos;
	return 1;
}

/* Does `next` lead from FROM to the goal, or past it in the middle of a line (*passed)? Not if
 * it runs over a call that never comes back, as by a longjmp. Leaves the session elsewhere. 1:
 * yes. */
static int leads_here(struct lz_nav *nav, const struct lz_pos *from, bool *passed)
{
	struct lz_pos now;

	*passed = false;
	if (lz_session_seek(nav->s, from))
		return -1;
	switch (lz_gdb_step(&nav->machine, LZ_OVER_ALL)) {
	case LZ_STEP_PASSED: *passed = true; return 1;
	case LZ_STEP_OVER: return 0;
	default: lz_session_where(nav->s, &now); return lz_pos_same(&now, &nav->goal);
	}
}

/* In the goal's own frame? Leaves the session elsewhere. */
static int in_goals_frame(struct lz_nav *nav, const struct lz_pos *pos)
{
	uint64_t cfa;

	if (lz_session_seek(nav->s, &nav->goal))
		return -1;
	cfa = lz_gdb_frame(&nav->machine, NULL);
	if (lz_session_seek(nav->s, pos))
		return -1;
	return lz_gdb_frame(&nav->machine, NULL) == cfa;
}

/* The last stop of `step` in SCOPE before ANSWER, if `next` leads from there to the goal. 1: it
 * does. */
static int leads_from_before(struct lz_nav *nav, const struct lz_pos *answer, enum lz_scope scope,
                             struct lz_pos *before)
{
	struct lz_pos goal = nav->goal;
	bool passed;
	int rc;

	if (lz_session_seek(nav->s, answer))
		return -1;
	nav->goal = *answer;
	rc = lz_search_step(nav, scope, before);
	nav->goal = goal;
	if (rc > 0)
		rc = in_goals_frame(nav, before);
	if (rc > 0)
		rc = leads_here(nav, before, &passed);
	return rc > 0 ? !passed : rc;
}

/* At an inlined call that begins at ANSWER, or a later piece of it does, `step` stops, a walk of
 * `next` that comes from further back may not: then its stop before. */
static int before_inlined(struct lz_nav *nav, struct lz_pos *answer)
{
	for (int i = 0; i < MAX_PIECES; i++) {
		struct lz_pos before;
		int rc;

		if (lz_session_seek(nav->s, answer))
			return -1;
		if (!lz_gdb_hides(&nav->machine))
			return 1;
		rc = leads_from_before(nav, answer, LZ_SCOPE_OUTER, &before);
		if (!rc)
			rc = leads_from_before(nav, answer, LZ_SCOPE_ALL, &before);
		if (rc <= 0)
			return rc < 0 ? -1 : 1;
		*answer = before;
	}
	return 1;
}

/* By the stops of `step` that are not in a deeper frame; NEAR: not from far back. 1: found. */
static int search_outer(struct lz_nav *nav, bool near, struct lz_pos *answer)
{
	bool passed;
	int rc = near ? lz_search_step_near(nav, LZ_SCOPE_OUTER, answer)
	              : lz_search_step(nav, LZ_SCOPE_OUTER, answer);
	int own;

	if (rc <= 0)
		return rc;
	own = in_goals_frame(nav, answer);
	if (own <= 0)
		return own < 0 ? -1 : 1;
	rc = leads_here(nav, answer, &passed);
	return rc == 1 ? before_inlined(nav, answer) : rc;
}

/* Does a walk of `next` from FROM stop at the goal, and before that where it is not in a deeper
 * frame (*answer)? 1: yes. */
static int walk_arrives(struct lz_nav *nav, const struct lz_chain_stop *from, struct lz_chain *c,
                        struct lz_pos *answer)
{
	const struct lz_chain_stop *p = from;
	enum chain_end end;

	if (lz_session_seek(nav->s, &from->pos) || lz_chain_build_here(nav, true, c, &end))
		return -1;
	if (end != CHAIN_ARRIVED)
		return 0;
	if (c->n > 1)
		p = &c->stop[c->n - 2];
	if (!lz_chain_in_scope(nav, p, LZ_SCOPE_OUTER))
		return 0;
	*answer = p->pos;
	return 1;
}

/* The stops of `step` between FROM and the goal, which is not far away, and the goal's frame. 0
 * also if there are none. */
static int steps_to_goal(struct lz_nav *nav, const struct lz_pos *from, struct lz_chain *steps,
                         uint64_t *cfa)
{
	enum chain_end end;

	if (nav->goal.marker - from->marker > NEAR)
		return 0;
	if (lz_session_seek(nav->s, from) || lz_chain_build_here(nav, false, steps, &end))
		return -1;
	if (end == CHAIN_ARRIVED)
		steps->n--;
	else if (end != CHAIN_PASSED)
		steps->n = 0;
	if (lz_session_seek(nav->s, &nav->goal))
		return -1;
	*cfa = lz_gdb_frame(&nav->machine, NULL);
	return 0;
}

/* The same from the stops of `step` between *ANSWER and the goal that are in the goal's frame,
 * the last one first. */
static int search_between(struct lz_nav *nav, struct lz_pos *answer)
{
	struct lz_chain steps = {0}, c = {0};
	uint64_t cfa = 0;
	int rc = steps_to_goal(nav, answer, &steps, &cfa);
	size_t n = steps.n;

	for (size_t tries = 0; n-- && !rc && tries < MAX_PIECES;)
		if (steps.stop[n].cfa == cfa) {
			rc = walk_arrives(nav, &steps.stop[n], &c, answer);
			tries++;
		}
	free(steps.stop);
	free(c.stop);
	return rc;
}

/* The last of STEPS that is deeper than the frame CFA and from which `next` leads to the goal,
 * and not in what that called in turn, if it leads there from outside of it as well. *at: its
 * index. 1: found. */
static int last_in_callee(struct lz_nav *nav, const struct lz_chain *steps, uint64_t cfa,
                          size_t *at)
{
	uint64_t least = 0; /* how deep what was found is */
	size_t tries = 0;

	for (size_t n = steps->n; n-- && steps->stop[n].cfa < cfa && tries < MAX_PIECES;) {
		bool passed;
		int rc;

		if (steps->stop[n].cfa <= least)
			continue;
		rc = leads_here(nav, &steps->stop[n].pos, &passed);
		if (rc < 0)
			return -1;
		tries++;
		if (!rc || passed)
			continue;
		least = steps->stop[n].cfa;
		*at = n;
	}
	return least != 0;
}

/* The stop before the goal in a walk of `next` that begins as early in the same call as stop
 * number AT of STEPS does. */
static int walk_from_earlier(struct lz_nav *nav, const struct lz_chain *steps, size_t at,
                             struct lz_pos *answer)
{
	uint64_t cfa = steps->stop[at].cfa;
	struct lz_chain c = {0};
	enum chain_end end = CHAIN_ARRIVED;
	int rc = 0;

	*answer = steps->stop[at].pos;
	for (size_t i = at, tries = 0; i-- && steps->stop[i].cfa <= cfa && tries < MAX_PIECES;) {
		const struct lz_pos *from = &steps->stop[i].pos;

		if (steps->stop[i].cfa != cfa)
			continue;
		tries++;
		rc = lz_session_seek(nav->s, from) || lz_chain_build_here(nav, true, &c, &end);
		/* What comes out of another call made from the same frame does not stop at the
		 * goal. */
		if (rc || end != CHAIN_ARRIVED)
			break;
		*answer = c.n > 1 ? c.stop[c.n - 2].pos : *from;
	}
	free(c.stop);
	return rc ? -1 : 0;
}

/* Where `step` stops as it comes into an activation, if there is a stop before its next marker. 1:
 * found. */
static int first_stop(struct lz_nav *nav, const struct lz_act *act, struct lz_pos *first)
{
	int64_t before = act->inherited ? 0 : lz_nav_own_end(nav, act->enter);
	uint64_t begin = lz_act_begin(act);

	if (before <= 0 || lz_chain_seek(nav, (uint64_t)before))
		return before ? -1 : 0;
	for (size_t tries = 0; tries < MAX_PIECES; tries++) {
		enum lz_step_result r = lz_gdb_step(&nav->machine, LZ_OVER_NOTHING);

		lz_session_where(nav->s, first);
		if (r == LZ_STEP_FAILED)
			return -1;
		if (r != LZ_STEPPED || lz_pos_same(first, &nav->goal))
			return 0;
		if (first->marker >= begin)
			return first->marker == begin;
	}
	return 0;
}

/* In the activation that came back just before the goal: its last stop of `next`, unless it took
 * long. A walk that begins in its prologue does not stop at its first line. 1: found. */
static int search_left(struct lz_nav *nav, struct lz_pos *answer)
{
	struct lz_chain c = {0};
	struct lz_candidate k;
	struct lz_pos last;
	bool passed = false;
	int rc;

	if (!lz_own_left(nav, &k) || nav->goal.marker - k.act.enter > CALL_FAR)
		return 0;
	rc = lz_own_search(nav, &k, true, &c, &last, &passed);
	free(c.stop);
	if (!rc)
		rc = first_stop(nav, &k.act, &last);
	if (rc > 0 && !passed)
		rc = leads_here(nav, &last, &passed);
	if (rc <= 0 || passed)
		return rc < 0 ? -1 : 0;
	*answer = last;
	return 1;
}

/* The goal is in the first line of its activation, behind a call that took long: a walk that begins
 * in the prologue does not stop at that line. 1: found. */
static int search_first(struct lz_nav *nav, const struct lz_act *act, struct lz_pos *answer)
{
	struct lz_pos first;
	bool passed;
	int rc = first_stop(nav, act, &first);

	if (rc > 0)
		rc = leads_here(nav, &first, &passed);
	/* A statement that begins behind the call is come to from the callee only. */
	if (rc > 0 && passed) {
		rc = search_left(nav, answer);
		if (rc)
			return rc;
		rc = 1;
	}
	if (rc > 0)
		*answer = first;
	return rc;
}

/* In the call that came back just before the goal: the last stop of a walk of `next` through it.
 * 1: found. */
static int search_callee(struct lz_nav *nav, struct lz_pos *answer)
{
	struct lz_chain steps = {0};
	uint64_t cfa = 0;
	size_t at = 0;
	int rc = search_left(nav, answer);

	if (rc)
		return rc < 0 ? -1 : before_inlined(nav, answer);
	rc = steps_to_goal(nav, answer, &steps, &cfa);
	if (!rc)
		rc = last_in_callee(nav, &steps, cfa, &at);
	if (rc > 0 && walk_from_earlier(nav, &steps, at, answer))
		rc = -1;
	free(steps.stop);
	return rc > 0 ? before_inlined(nav, answer) : rc;
}

/* The last stop of `step` in SCOPE, if `next` leads from it to the goal and does not pass by. 1:
 * it does. */
static int last_in_scope(struct lz_nav *nav, enum lz_scope scope, struct lz_pos *answer)
{
	struct lz_pos from;
	bool passed = false;
	int rc;

	if (lz_session_seek(nav->s, &nav->goal))
		return -1;
	rc = lz_search_step(nav, scope, &from);
	if (rc > 0)
		rc = leads_here(nav, &from, &passed);
	if (rc <= 0 || passed)
		return rc < 0 ? -1 : 0;
	*answer = from;
	return before_inlined(nav, answer);
}

/* A walk of `next` may go on past a line at which another stops, if inlined calls are cut up and
 * mixed with code of their callers. Is there a stop of `step`, or one of `next` from there, from
 * which `next` does stop at the goal? Then that is the answer. */
static int search_exact(struct lz_nav *nav, struct lz_pos *answer)
{
	int rc = last_in_scope(nav, LZ_SCOPE_OUTER, answer);

	if (!rc)
		rc = search_between(nav, answer);
	if (!rc)
		rc = last_in_scope(nav, LZ_SCOPE_FRAME, answer);
	if (!rc)
		rc = search_callee(nav, answer);
	if (!rc)
		rc = last_in_scope(nav, LZ_SCOPE_ALL, answer);
	return rc;
}

/* In code with markers and without lines: both `next` and `step` stop there on the way out of
 * what that called. 1: found. */
static int search_lineless(struct lz_nav *nav, struct lz_pos *answer)
{
	bool passed;
	int rc = lz_search_step(nav, LZ_SCOPE_ALL, answer);

	if (rc == 1)
		rc = leads_here(nav, answer, &passed);
	return rc == 1 ? !passed : rc;
}

/* In code without markers that has lines, behind an activation that it called: the line that
 * made the call is found by `next` from before that, which runs over it, where `step` would walk
 * through all of it. 1: found. */
static int search_behind_call(struct lz_nav *nav, const struct lz_act *act, struct lz_chain *c,
                              struct lz_pos *answer)
{
	int64_t before = act->inherited ? 0 : lz_nav_own_end(nav, act->enter);
	uint64_t length = nav->goal.marker - act->enter;
	struct lz_own_found f = {0};
	int rc = before < 0 ? -1 : search_outer(nav, true, answer);

	/* Where the thread begins with it there is no way to come to its caller's frame. */
	if (!rc && before && length <= CALL_FAR)
		rc = lz_own_try(nav, (uint64_t)before, c, answer, &f);
	if (!rc && before && length <= LZ_UNMARKED_FAR)
		rc = search_outer(nav, false, answer);
	return rc;
}

int lz_search_next(struct lz_nav *nav, struct lz_pos *answer)
{
	struct lz_chain c = {0};
	struct lz_candidate t[2];
	size_t n = lz_own_activations(nav, t);
	bool passed = false, left;
	int rc = 0;

	if (n && !lz_chain_goal_has_line(nav)) {
		rc = search_lineless(nav, answer);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = lz_own_search(nav, &t[i], false, &c, answer, &passed);
	if (rc == 1 && passed && search_exact(nav, answer) < 0)
		rc = -1;
	left = !n && lz_own_left(nav, t);
	if (left && !lz_chain_goal_has_line(nav))
		rc = lz_own_search(nav, &t[0], true, &c, answer, &passed);
	if (!n && !rc)
		rc = search_unmarked(nav, &c, answer);
	if (!rc)
		rc = left ? search_behind_call(nav, &t[0].act, &c, answer)
		          : search_outer(nav, false, answer);
	else if (rc == 1)
		lz_chain_keep(&nav->next, &c);
	for (size_t i = 0; i < n && !rc; i++)
		rc = search_first(nav, &t[i].act, answer);
	if (!rc && left)
		rc = lz_own_search(nav, &t[0], true, &c, answer, &passed);
	free(c.stop);
	return rc ? rc : lz_search_step(nav, LZ_SCOPE_ALL, answer);
}
