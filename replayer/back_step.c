/* Anchors for bs: some markers back, further and further. */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/chain.h"
#include "replayer/session.h"

enum { OUTER_FAR = 2000 }; /* bytes of the stream to look back for a stop that is not deeper */

/* What the stack holds at a stream offset: the ENTER offsets and the last own marker of each. */
struct stack {
	struct lz_act *a;
	size_t n;
};

static int stack_at(struct lz_nav *nav, uint64_t offset, struct stack *st)
{
	struct lz_decoder *d = lz_stream_stack(nav->stream, offset);

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

/* The anchor lies in a callback or handler that the goal is not in: one before that, in the youngest
 * activation that holds both. */
static int anchor_outside(struct lz_nav *nav, uint64_t anchor, const struct stack *at_goal,
                          uint64_t *earlier)
{
	struct stack st;
	size_t common = 0;

	*earlier = anchor;
	if (stack_at(nav, anchor, &st))
		return -1;
	while (common < st.n && common < at_goal->n &&
	       st.a[common].enter == at_goal->a[common].enter)
		common++;
	if (common && common < st.n && st.a[common - 1].last_at < anchor)
		*earlier = st.a[common - 1].last_at;
	free(st.a);
	return 0;
}

/* The goal lies in something that was run over since stream offset FROM: the oldest activation entered
 * since then that is still there. */
static bool anchor_inside(const struct stack *at_goal, uint64_t from, uint64_t *anchor)
{
	for (size_t i = 0; i < at_goal->n; i++) {
		if (at_goal->a[i].enter < from)
			continue;
		*anchor = at_goal->a[i].enter + 5;
		return true;
	}
	return false;
}

struct search {
	struct lz_chain chain;
	struct stack stack; /* at the goal, once it is needed */
	bool have_stack;
	struct lz_pos outside; /* the last stop before the goal was run over */
	bool have_outside, found;
	bool outer; /* the answer must not be in a deeper frame than the goal */
	struct lz_pos answer;
};

/* The stack at the goal, with the goal's own activation if that has written its exit marker already. */
static int stack_at_goal(struct lz_nav *nav, struct stack *st)
{
	uint64_t at = nav->goal.marker;
	uint32_t fn = lz_stream_fn_at(nav->stream, nav->goal.ip, nav->goal.event);
	struct lz_decoder *d = at && fn != LZ_FN_NONE ? lz_stream_stack(nav->stream, at - 1) : NULL;
	size_t n;

	if (d && lz_decoder_top(d) && lz_decoder_top(d)->fn == fn) {
		n = d->n;
		d = lz_stream_stack(nav->stream, at);
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

static const struct lz_chain_stop *predecessor(struct lz_nav *nav, const struct search *f,
                                               enum chain_end end)
{
	bool sure;

	return f->outer ? lz_chain_outer(nav, &f->chain, end, &sure)
	                : lz_chain_predecessor(&f->chain, end);
}

/* One anchor tried. *earlier: where to go on if not found. */
static int try_step(struct lz_nav *nav, struct search *f, uint64_t anchor, uint64_t *earlier)
{
	const struct lz_chain_stop *p;
	enum chain_end end;

	*earlier = anchor;
	if (lz_chain_build(nav, anchor, false, &f->chain, &end))
		return -1;
	if (end == CHAIN_OVER && f->chain.n) {
		struct lz_pos last = f->chain.stop[f->chain.n - 1].pos;
		uint64_t inner;

		f->outside = last;
		f->have_outside = true;
		if (need_stack(nav, f))
			return -1;
		if (anchor_inside(&f->stack, last.marker, &inner) && inner > anchor &&
		    inner <= nav->goal.marker) {
			uint64_t ignored;
			bool have = f->have_outside;

			f->have_outside = false;
			if (try_step(nav, f, inner, &ignored))
				return -1;
			if (f->found)
				return 0;
			if (!f->have_outside)
				f->outside = last;
			f->have_outside |= have;
		}
		f->found = true;
		f->answer = f->outside;
		return 0;
	}
	p = predecessor(nav, f, end);
	if (p && nav->machine.left_unknown) {
		if (need_stack(nav, f) || anchor_outside(nav, anchor, &f->stack, earlier))
			return -1;
		if (*earlier < anchor)
			return 0;
	}
	if (p) {
		f->answer = p->pos;
		f->found = true;
	}
	return 0;
}

/* Where there are no markers: anchors behind events. */
static int find_by_events(struct lz_nav *nav, struct search *f)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(nav->s->rp.reader, 0);
	uint64_t event = nav->goal.event, back = 1, first = ck ? ck->pos.event : 0;

	while (event > first && !f->found) {
		const struct lz_chain_stop *p;
		const struct lz_event *ev;
		enum chain_end end;

		event = nav->goal.event > first + back ? nav->goal.event - back : first;
		ev = event ? lz_reader_event(nav->s->rp.reader, event - 1) : NULL;
		if (lz_session_seek_gap(nav->s, event, ev ? ev->marker : 0) ||
		    lz_chain_build_here(nav, false, &f->chain, &end))
			return -1;
		p = predecessor(nav, f, end);
		if (p) {
			f->answer = p->pos;
			f->found = true;
		}
		back *= 4;
	}
	return 0;
}

static int find_step(struct lz_nav *nav, struct search *f)
{
	uint64_t anchor = nav->goal.marker, distance = 12, earlier, first;

	/* What runs before the first marker is the loader. */
	first = anchor ? lz_engine_next_marker(nav->s->e, 0) : 0;
	if (anchor <= first)
		return find_by_events(nav, f);
	while (anchor > first && !f->found && !(f->outer && distance > OUTER_FAR)) {
		anchor = nav->goal.marker > first + distance ? nav->goal.marker - distance : first;
		for (;;) {
			int64_t boundary = lz_marker_boundary(nav->s, anchor);

			if (boundary < 0)
				return -1;
			anchor = boundary;
			if (try_step(nav, f, anchor, &earlier))
				return -1;
			if (f->found || earlier >= anchor)
				break;
			anchor = earlier;
		}
		if (nav->goal.marker - anchor > distance)
			distance = nav->goal.marker - anchor;
		distance *= 6;
	}
	return 0;
}

/* The predecessor by `step`; OUTER: the last one that is not in a deeper frame. 1: found. */
int lz_search_step(struct lz_nav *nav, bool outer, struct lz_pos *answer)
{
	struct search f = {.outer = outer};
	int rc = find_step(nav, &f);

	free(f.stack.a);
	if (!rc && f.found) {
		*answer = f.answer;
		rc = 1;
		if (!outer)
			lz_chain_keep(&nav->step, &f.chain);
	}
	free(f.chain.stop);
	return rc;
}
