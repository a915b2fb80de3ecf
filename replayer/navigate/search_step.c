/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Anchors for bs: some markers back, further and further. */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/navigate/call_site.h"
#include "replayer/navigate/past_handlers.h"
#include "replayer/navigate/skipped_anchors.h"
#include "replayer/navigate/stop_chain.h"
#include "replayer/navigate/own_markers.h"
#include "replayer/session/session.h"

enum {
	OUTER_FAR = 2000, /* bytes of the stream to look back for a stop that is not deeper, */
	NEAR = 100,       /* the same where whatever is further back is found otherwise */
	CALL_SIZE = 4,    /* less than what a call writes */
	CALLS_FAR = 64,   /* so far calls made from code without lines are looked for one by one */
	OWN_DEEP = 3      /* activations of the goal's stack whose own markers are tried */
};

/* What the stack holds at a stream offset: the ENTER offsets and the last own marker of each. */
struct stack {
	struct lz_act *a;
	size_t n;
};

static int stack_at(struct lz_nav *nav, uint64_t offset, struct stack *st)
{
	struct lz_decoder *d = lz_stream_stack(nav->stream, offset, nav->thread);

	st->a = NULL;
	st->n = 0;
	if (!d)
		return -1;
	st->a = malloc((d->n + 1) * sizeof(*st->a));
	if (!st->a)
		return lz_fail("out of memory for a call stack");
	if (d->n)
		memcpy(st->a, d->acts, d->n * sizeof(*st->a));
	st->n = d->n;
	return 0;
}

/* Right behind an activation's exit marker control is still in it. */
static bool is_in_exit(struct lz_nav *nav, uint64_t offset, size_t depth)
{
	struct lz_decoder *d =
	    offset ? lz_stream_stack(nav->stream, offset - 1, nav->thread) : NULL;

	return d && d->n > depth;
}

/* The anchor lies in a callback or handler that the goal is not in: one before that, in the
 * youngest activation that holds both. */
static int anchor_outside(struct lz_nav *nav, uint64_t anchor, const struct stack *at_goal,
                          uint64_t *earlier)
{
	struct stack st;
	size_t common = 0;

	*earlier = anchor;
	if (stack_at(nav, anchor, &st))
		return -1;
	while (common < st.n && common < at_goal->n &&
	       lz_act_id(&st.a[common]) == lz_act_id(&at_goal->a[common]))
		common++;
	if (common && (common < st.n || is_in_exit(nav, anchor, st.n)) &&
	    st.a[common - 1].last_at < anchor)
		*earlier = st.a[common - 1].last_at;
	free(st.a);
	return 0;
}

/* The goal lies in something that was run over since stream offset FROM: the oldest activation
 * entered since then that is still there. */
static const struct lz_act *entered_since(const struct stack *at_goal, uint64_t from)
{
	for (size_t i = 0; i < at_goal->n; i++)
		if (at_goal->a[i].enter >= from)
			return &at_goal->a[i];
	return NULL;
}

/* The last stop before the goal was run over. */
struct outside {
	struct lz_pos pos;
	bool fits; /* it is in SCOPE: not a line deeper, of a call that never came back */
	bool known;
};

struct search {
	struct lz_chain chain;
	struct stack stack; /* at the goal, once it is needed */
	bool have_stack;
	struct outside outside;
	bool found;
	enum lz_scope scope; /* of the answer */
	uint64_t far;        /* bytes of the stream to look back, unless all stops are in SCOPE */
	/* The goal is in code without markers, and may be on the way out of a callback. */
	bool unmarked;
	bool lineless; /* the goal is in code with markers, of which GDB knows no lines */
	struct lz_pos answer;
};

static void found(struct search *f, const struct lz_pos *answer)
{
	f->answer = *answer;
	f->found = true;
}

/* The stack at the goal, with the goal's own activation if that has written its exit marker
 * already. */
static int stack_at_goal(struct lz_nav *nav, struct stack *st)
{
	int64_t at = lz_nav_own_end(nav, nav->goal.marker);
	uint32_t fn = lz_stream_fn_at(nav->stream, nav->goal.ip, nav->goal.event);
	struct lz_decoder *d = NULL;
	size_t n;

	if (at < 0)
		return -1;
	if (at && fn != LZ_FN_NONE)
		d = lz_stream_stack(nav->stream, at - 1, nav->thread);
	if (d && lz_decoder_top(d) && lz_decoder_top(d)->fn == fn) {
		n = d->n;
		d = lz_stream_stack(nav->stream, at, nav->thread);
		if (d && d->n < n)
			at--;
	}
	return stack_at(nav, at, st);
}

static int need_stack(struct lz_nav *nav, struct search *f)
{
	if (f->have_stack)
		return 0;
	if (stack_at_goal(nav, &f->stack))
		return -1;
	f->have_stack = true;
	return 0;
}

/* 1: a walk from ANCHOR is of no use, as it begins in what is skipped. */
static int is_skipped(struct lz_nav *nav, struct search *f, uint64_t anchor, uint64_t *earlier)
{
	if (!nav->machine.skips)
		return 0;
	if (need_stack(nav, f))
		return -1;
	return lz_anchor_is_skipped(nav, anchor, f->stack.a, f->stack.n, earlier);
}

/* Has control come back to the activation, from behind stream offset FROM on, other than by a
 * return? As to a handler of a C++ exception. */
static int has_landed(struct lz_nav *nav, const struct lz_act *act, uint64_t from)
{
	struct lz_candidate k = {.act = *act};
	struct lz_own_marks o = {0};
	bool landed = false;
	int rc =
	    lz_own_marks_in_block(nav, lz_stream_block_of(nav->stream, nav->goal.marker), &k, &o);

	for (size_t i = o.n; rc >= 0 && i > 0 && o.mark[i - 1].at > from; i--)
		landed |= o.mark[i - 1].id == 0;
	free(o.mark);
	return rc < 0 ? -1 : landed;
}

/* May the goal have been reached otherwise than by a call of the activation that ran at a stream
 * offset? By a longjmp, because another stack goes on there, or on the way out of a callback. */
static int is_elsewhere(struct lz_nav *nav, const struct search *f, uint64_t offset)
{
	const struct stack *goal = &f->stack;
	struct stack st;
	size_t i = 0;
	int rc = 0;

	if (stack_at(nav, offset, &st))
		return -1;
	if (f->unmarked) {
		rc = 1;
	} else if (st.n) {
		while (i < goal->n && lz_act_id(&goal->a[i]) != lz_act_id(&st.a[st.n - 1]))
			i++;
		rc = i == goal->n || (i + 1 < goal->n && goal->a[i + 1].enter < offset);
		if (!rc)
			rc = has_landed(nav, &goal->a[i], offset);
	}
	free(st.a);
	return rc;
}

/* Is a stop in a handler that has returned before the goal, so that a walk from outside went over it?
 * In code with markers the stacks tell. *EARLIER: where the signal came. */
static bool was_gone_over(struct lz_nav *nav, const struct search *f, const struct lz_pos *stop,
                          uint64_t *earlier)
{
	return f->unmarked && lz_in_past_handler(nav, stop, earlier);
}

/* From own markers of one of the goal's activations. */
static int try_own(struct lz_nav *nav, struct search *f, const struct lz_act *act)
{
	struct lz_candidate k = {.act = *act};
	struct lz_own_marks o = {0};
	int rc =
	    lz_own_marks_in_block(nav, lz_stream_block_of(nav->stream, nav->goal.marker), &k, &o);

	for (size_t back = 0; rc >= 0 && !f->found && back < o.n; back = 4 * back + 1) {
		const struct lz_chain_stop *p;
		enum chain_end end;
		uint64_t ignored;

		rc = lz_chain_build(nav, o.mark[o.n - 1 - back].at, false, &f->chain, &end);
		p = rc < 0 ? NULL : lz_chain_last(nav, &f->chain, end, f->scope);
		if (p && !was_gone_over(nav, f, &p->pos, &ignored))
			found(f, &p->pos);
	}
	free(o.mark);
	return rc < 0 ? -1 : 0;
}

/* From in between, nearer and nearer. */
static int try_between(struct lz_nav *nav, struct search *f, uint64_t from)
{
	for (uint64_t back = (nav->goal.marker - from) / 2; back > 0 && !f->found; back /= 2) {
		int64_t anchor = lz_nav_own_back(nav, nav->goal.marker - back, 0);
		const struct lz_chain_stop *p;
		uint64_t ignored;
		enum chain_end end;
		int skipped = anchor < 0 ? -1 : is_skipped(nav, f, (uint64_t)anchor, &ignored);

		if (skipped > 0)
			continue;
		if (skipped < 0 || lz_chain_build(nav, (uint64_t)anchor, false, &f->chain, &end))
			return -1;
		p = lz_chain_last(nav, &f->chain, end, f->scope);
		if (p && (f->unmarked || !nav->machine.left_unknown) &&
		    !was_gone_over(nav, f, &p->pos, &ignored))
			found(f, &p->pos);
	}
	return 0;
}

/* The goal was run over from elsewhere, at stream offset FROM: by its own activations, the
 * innermost first, or by those that have run since. */
static int try_own_stack(struct lz_nav *nav, struct search *f, uint64_t from)
{
	size_t n = f->stack.n;

	for (size_t i = n; i > 0 && n - i < OWN_DEEP && !f->found; i--)
		if (try_own(nav, f, &f->stack.a[i - 1]))
			return -1;
	return f->found ? 0 : try_between(nav, f, from);
}

/* The goal was passed in the middle of a line, where a handler that was run over came back to.
 * On the way out of it `step` may stop there: then the answer is in the handler. Leaves the
 * session at the goal. */
static int try_handler(struct lz_nav *nav, struct search *f)
{
	bool left = nav->machine.left_unknown;
	struct lz_pos inside = nav->handler;
	const struct lz_chain_stop *p;
	struct lz_chain c = {0};
	enum chain_end end = CHAIN_LOST;
	int rc = lz_session_seek(nav->s, &inside) || lz_chain_build_here(nav, false, &c, &end);

	p = end == CHAIN_ARRIVED ? lz_chain_last(nav, &c, end, f->scope) : NULL;
	if (p) {
		found(f, &p->pos);
		lz_chain_keep(&f->chain, &c);
	}
	free(c.stop);
	nav->machine.left_unknown = left;
	return rc ? -1 : lz_session_seek(nav->s, &nav->goal);
}

/* The goal's own frame, as it is when a function is come to that has a stop in front of its
 * first marker. */
static bool is_same_frame(const struct lz_chain *c, const struct lz_chain_stop *p,
                          enum chain_end end)
{
	return end == CHAIN_ARRIVED && p->cfa && p->cfa == c->stop[c->n - 1].cfa;
}

/* Does the last stop P need an anchor further out? In code without lines GDB stops only on the
 * way out of what that called. */
static bool is_on_way_out(struct lz_nav *nav, const struct search *f, const struct lz_chain_stop *p,
                          enum chain_end end)
{
	return nav->machine.left_unknown && !f->unmarked && !is_same_frame(&f->chain, p, end) &&
	       !(f->lineless && end == CHAIN_ARRIVED);
}

static int try_step(struct lz_nav *nav, struct search *f, uint64_t anchor, uint64_t *earlier);

/* Control came to what begins at stream offset AT by tail calls, from activations that are gone. By
 * their stops, if they began since FROM. */
static int try_tail_callers(struct lz_nav *nav, struct search *f, uint64_t at, uint64_t from)
{
	struct lz_act act;

	while (!f->found && lz_nav_left(nav, at, &act) && act.enter >= from) {
		const struct lz_chain_stop *p;
		enum chain_end end;

		at = act.enter;
		if (lz_chain_build(nav, lz_act_begin(&act), false, &f->chain, &end))
			return -1;
		if (end != CHAIN_ARRIVED || nav->machine.left_unknown)
			break; /* it returned */
		p = lz_chain_last(nav, &f->chain, end, f->scope);
		if (p)
			found(f, &p->pos);
	}
	return 0;
}

/* From the beginning of what was run over, if that is behind ANCHOR. */
static int try_inside(struct lz_nav *nav, struct search *f, uint64_t anchor)
{
	const struct outside outside = f->outside;
	uint64_t from = outside.pos.marker, at = nav->goal.marker, ignored;
	const struct lz_act *act = entered_since(&f->stack, from);

	if (act && (lz_act_begin(act) <= anchor || lz_act_begin(act) > at))
		return 0;
	if (act) {
		at = act->enter;
		f->outside.known = false;
		if (try_step(nav, f, lz_act_begin(act), &ignored))
			return -1;
		if (!f->outside.known)
			f->outside = outside;
	}
	return f->found ? 0 : try_tail_callers(nav, f, at, from);
}

/* The goal was run over since the chain's last stop. */
static int try_over(struct lz_nav *nav, struct search *f, uint64_t anchor)
{
	const struct lz_chain_stop last = f->chain.stop[f->chain.n - 1];
	int elsewhere;

	f->outside = (struct outside){last.pos, lz_chain_in_scope(nav, &last, f->scope), true};
	if (need_stack(nav, f) || try_inside(nav, f, anchor))
		return -1;
	if (f->found)
		return 0;
	elsewhere = is_elsewhere(nav, f, last.pos.marker);
	if (elsewhere < 0 || (elsewhere && try_own_stack(nav, f, last.pos.marker)))
		return -1;
	if (!f->found && f->outside.fits)
		found(f, &f->outside.pos);
	return 0;
}

/* One anchor tried. *earlier: where to go on if not found. */
static int try_step(struct lz_nav *nav, struct search *f, uint64_t anchor, uint64_t *earlier)
{
	const struct lz_chain_stop *p;
	enum chain_end end;
	int skipped;

	*earlier = anchor;
	skipped = is_skipped(nav, f, anchor, earlier);
	if (skipped)
		return skipped < 0 ? -1 : 0;
	if (lz_chain_build(nav, anchor, false, &f->chain, &end))
		return -1;
	if (end == CHAIN_OVER && f->chain.n) {
		if (was_gone_over(nav, f, &f->chain.stop[f->chain.n - 1].pos, earlier))
			return 0;
		return try_over(nav, f, anchor);
	}
	if (end == CHAIN_PASSED && nav->handler.event) {
		if (try_handler(nav, f))
			return -1;
		if (f->found)
			return 0;
	}
	p = lz_chain_last(nav, &f->chain, end, f->scope);
	if (!p || was_gone_over(nav, f, &p->pos, earlier))
		return 0;
	if (is_on_way_out(nav, f, p, end)) {
		if (need_stack(nav, f) || anchor_outside(nav, anchor, &f->stack, earlier))
			return -1;
		if (*earlier < anchor)
			return 0;
	}
	found(f, &p->pos);
	return 0;
}

/* The goal was run over from code without lines, since FROM: in what that called GDB stops, and
 * then steps on. Leaves the session at the goal. */
static int try_call_site(struct lz_nav *nav, struct search *f, const struct lz_pos *from)
{
	const struct lz_chain_stop *p = NULL;
	enum chain_end end;
	struct lz_pos entered;

	if (lz_session_seek(nav->s, from))
		return -1;
	int rc = lz_call_site_enter(nav);
	if (rc < 0)
		return -1;
	lz_session_where(nav->s, &entered);
	if ((rc && lz_chain_build_here(nav, false, &f->chain, &end)) ||
	    lz_session_seek(nav->s, &nav->goal))
		return -1;
	if (!rc || lz_pos_same(&entered, &nav->goal))
		return 0;
	if (end == CHAIN_OVER && f->chain.n)
		p = &f->chain.stop[f->chain.n - 1];
	else
		p = lz_chain_last(nav, &f->chain, end, f->scope);
	if (p)
		found(f, &p->pos);
	else if (lz_chain_in_scope(nav, &f->chain.from, f->scope))
		found(f, &entered);
	return 0;
}

/* To the gap behind EVENT events, or the last one before that is of the goal's thread. */
static int seek_event(struct lz_nav *nav, uint64_t event)
{
	const struct lz_stream_threads *t = &nav->threads;
	uint32_t turn = lz_turns_at(t->turns, event), i = turn;
	const struct lz_event *ev;

	while (i > 0 && t->number[i] != nav->thread)
		i--;
	if (i != turn)
		event = t->turns->v[i + 1].event - 1;
	ev = lz_session_event_before(nav->s, event);
	return ev ? lz_session_seek_gap(nav->s, event, ev->marker) : lz_session_seek_start(nav->s);
}

static int try_event(struct lz_nav *nav, struct search *f, uint64_t event)
{
	const struct lz_chain_stop *p;
	struct lz_pos from, last;
	enum chain_end end;

	if (seek_event(nav, event))
		return -1;
	lz_session_where(nav->s, &from);
	if (lz_chain_build_here(nav, false, &f->chain, &end))
		return -1;
	if (end == CHAIN_PASSED && nav->handler.event && (try_handler(nav, f) || f->found))
		return f->found ? 0 : -1;
	if (end == CHAIN_OVER) {
		bool stopped = f->chain.n > 0;
		last = stopped ? f->chain.stop[f->chain.n - 1].pos : from;
		if (try_call_site(nav, f, &last))
			return -1;
		if (!f->found && stopped)
			found(f, &last);
		return 0;
	}
	p = lz_chain_last(nav, &f->chain, end, f->scope);
	if (p)
		found(f, &p->pos);
	return 0;
}

/* Where there are no markers: anchors behind events. */
static int find_by_events(struct lz_nav *nav, struct search *f)
{
	uint64_t first = nav->threads.turns->v[nav->threads.first[nav->thread]].event;
	uint64_t event = nav->goal.event, back = 1;

	if (event == first && (nav->thread || lz_reader_begins_inside(nav->s->rp.reader)))
		return try_event(nav, f, event); /* the thread begins with this gap */
	while (event > first && !f->found) {
		event = nav->goal.event > first + back ? nav->goal.event - back : first;
		if (try_event(nav, f, event))
			return -1;
		back *= 4;
	}
	return 0;
}

/* How far back the anchor after the one at DISTANCE is. Where GDB stops only on the way out of
 * calls, none is left out. */
static uint64_t further(const struct search *f, uint64_t distance)
{
	return f->lineless && distance < CALLS_FAR ? distance + CALL_SIZE : distance * 6;
}

static int find_step(struct lz_nav *nav, struct search *f)
{
	uint64_t distance = f->lineless ? 1 : 12, earlier, first = lz_nav_own_first(nav),
	         now = nav->goal.marker;
	int64_t anchor = lz_nav_own_end(nav, now);
	bool limited = f->scope != LZ_SCOPE_ALL;

	if (anchor < 0)
		return -1;
	/* What the first thread runs before its first marker is the loader, unless earlier parts
	 * were not kept. */
	if (!first || (uint64_t)anchor <= first)
		return find_by_events(nav, f);
	while ((uint64_t)anchor > first && !f->found && !(limited && distance > f->far)) {
		anchor = lz_nav_own_back(nav, now, distance);
		for (;;) {
			if (anchor < 0 || try_step(nav, f, (uint64_t)anchor, &earlier))
				return -1;
			if (f->found || earlier >= (uint64_t)anchor)
				break;
			anchor = lz_nav_own_end(nav, earlier);
		}
		uint64_t tried =
		    lz_stream_thread_between(&nav->threads, nav->thread, (uint64_t)anchor, now);

		if (tried > distance)
			distance = tried;
		distance = further(f, distance);
	}
	/* The goal is the first stop behind the thread's first marker. */
	if (!f->found && !limited)
		return find_by_events(nav, f);
	return 0;
}

static int search(struct lz_nav *nav, enum lz_scope scope, uint64_t far, struct lz_pos *answer)
{
	struct search f = {.scope = scope, .far = far};
	int rc;

	f.unmarked = lz_stream_fn_at(nav->stream, nav->goal.ip, nav->goal.event) == LZ_FN_NONE;
	f.lineless = !f.unmarked && !lz_chain_goal_has_line(nav);
	if (!far)
		f.far = f.unmarked ? LZ_UNMARKED_FAR : OUTER_FAR;
	rc = find_step(nav, &f);

	free(f.stack.a);
	if (!rc && f.found) {
		*answer = f.answer;
		rc = 1;
		if (scope == LZ_SCOPE_ALL)
			lz_chain_keep(&nav->step, &f.chain);
	}
	free(f.chain.stop);
	return rc;
}

int lz_search_step(struct lz_nav *nav, enum lz_scope scope, struct lz_pos *answer)
{
	return search(nav, scope, 0, answer);
}

int lz_search_step_near(struct lz_nav *nav, enum lz_scope scope, struct lz_pos *answer)
{
	return search(nav, scope, NEAR, answer);
}
