/* bs and prev: from an anchor before the present position GDB's stepping is done forwards again until it
 * comes here; the stop before the last is the answer. Each chain of stops is kept: the next bs finds its
 * answer in it. */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/nav.h"
#include "replayer/session.h"

enum chain_end {
	CHAIN_ARRIVED, /* the last stop is the goal */
	CHAIN_PASSED,  /* the goal was passed in the middle of a line */
	CHAIN_OVER,    /* the goal lies in what was run over */
	CHAIN_LOST     /* never came to the goal */
};

/* Chains longer than any walk; how far to look for an outer stop: bytes of the stream, own markers. */
enum { MAX_CHAIN = 1 << 20, OUTER_FAR = 2000, DEEPER_FAR = 1000 };

static int add_stop(struct lz_nav *nav, struct lz_chain *c, const struct lz_pos *pos)
{
	if (c->n == c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 64;
		struct lz_chain_stop *p = reallocarray(c->stop, cap, sizeof(*p));

		if (!p)
			return lz_fail("out of memory for a chain of %zu stops", c->n);
		c->stop = p;
		c->cap = cap;
	}
	c->stop[c->n] = (struct lz_chain_stop){.pos = *pos};
	c->stop[c->n].cfa = lz_gdb_frame(&nav->machine, &c->stop[c->n].inlines);
	c->n++;
	return 0;
}

static bool is_behind(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->event > b->event || a->marker > b->marker;
}

/* Steps from the present instant on, up to the goal. */
static int build_here(struct lz_nav *nav, bool next, struct lz_chain *c, enum chain_end *end)
{
	struct lz_pos now, before;

	c->n = 0;
	nav->machine.left_unknown = false;
	nav->interrupted = false;
	lz_session_where(nav->s, &now);
	while (c->n < MAX_CHAIN) {
		enum lz_step_result r;

		if (is_behind(&now, &nav->goal))
			break;
		before = now;
		r = lz_gdb_step(&nav->machine, next);
		lz_session_where(nav->s, &now);
		switch (r) {
		case LZ_STEP_SIGNAL:
			if (lz_nav_same(&now, &before))
				continue; /* reported; the next step takes it */
			                  /* fall through */
		case LZ_STEPPED:
			if (lz_nav_same(&now, &before))
				goto lost;
			if (add_stop(nav, c, &now))
				return -1;
			if (!lz_nav_same(&now, &nav->goal))
				continue;
			*end = CHAIN_ARRIVED;
			return 0;
		case LZ_STEP_PASSED: *end = CHAIN_PASSED; return 0;
		case LZ_STEP_OVER: *end = CHAIN_OVER; return 0;
		case LZ_STEP_END:
			*end = lz_nav_same(&now, &nav->goal) ? CHAIN_PASSED : CHAIN_LOST;
			return 0;
		default: goto lost;
		}
	}
lost:
	*end = CHAIN_LOST;
	return nav->interrupted ? -1 : 0;
}

/* The same from the stream offset ANCHOR on. */
static int build(struct lz_nav *nav, uint64_t anchor, bool next, struct lz_chain *c,
                 enum chain_end *end)
{
	if (lz_session_seek_time(nav->s, anchor))
		return -1;
	return build_here(nav, next, c, end);
}

/* The stop that leads to the goal, if the chain knows it; OUTER: not in a deeper frame. */
static const struct lz_chain_stop *predecessor(struct lz_nav *nav, const struct lz_chain *c,
                                               enum chain_end end, bool outer)
{
	size_t n = end == CHAIN_ARRIVED ? c->n - 1 : end == CHAIN_PASSED ? c->n : 0;
	uint32_t inlines;
	uint64_t cfa = lz_gdb_frame(&nav->machine, &inlines);

	while (outer && n &&
	       (c->stop[n - 1].cfa < cfa ||
	        (c->stop[n - 1].cfa == cfa && c->stop[n - 1].inlines > inlines)))
		n--;
	return n ? &c->stop[n - 1] : NULL;
}

static const struct lz_pos *cached(const struct lz_chain *c, const struct lz_pos *pos)
{
	for (size_t i = c->n; i-- > 1;)
		if (lz_nav_same(&c->stop[i].pos, pos))
			return &c->stop[i - 1].pos;
	return NULL;
}

static void keep(struct lz_chain *kept, struct lz_chain *c)
{
	struct lz_chain old = *kept;

	*kept = *c;
	*c = old;
}

static int go(struct lz_nav *nav, const struct lz_pos *pos, struct lz_stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	if (lz_session_seek(nav->s, pos))
		return -1;
	stop->reason = LZ_STOP_STEP;
	stop->pos = *pos;
	return 0;
}

static int go_to_start(struct lz_nav *nav, struct lz_stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	if (lz_session_seek_start(nav->s))
		return -1;
	stop->reason = LZ_STOP_START;
	lz_session_where(nav->s, &stop->pos);
	return 0;
}

/* ---- step ---- */

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

/* One anchor tried. *earlier: where to go on if not found. */
static int try_step(struct lz_nav *nav, struct search *f, uint64_t anchor, uint64_t *earlier)
{
	const struct lz_chain_stop *p;
	enum chain_end end;

	*earlier = anchor;
	if (build(nav, anchor, false, &f->chain, &end))
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
	p = predecessor(nav, &f->chain, end, f->outer);
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
		    build_here(nav, false, &f->chain, &end))
			return -1;
		p = predecessor(nav, &f->chain, end, f->outer);
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
static int search_step(struct lz_nav *nav, bool outer, struct lz_pos *answer)
{
	struct search f = {.outer = outer};
	int rc = find_step(nav, &f);

	free(f.stack.a);
	if (!rc && f.found) {
		*answer = f.answer;
		rc = 1;
		if (!outer)
			keep(&nav->step, &f.chain);
	}
	free(f.chain.stop);
	return rc;
}

/* ---- next ---- */

/* The running activation at a stream offset, if it is of function FN. *local: it is known without the
 * index, since it began in the same block. */
static bool running_at(struct lz_nav *nav, uint64_t offset, uint32_t fn, struct lz_act *t,
                       bool *local)
{
	struct lz_decoder *d = lz_stream_stack_local(nav->stream, offset);

	*local = d && lz_decoder_top(d);
	if (!*local)
		d = lz_stream_stack(nav->stream, offset);
	if (!d || !lz_decoder_top(d) || lz_decoder_top(d)->fn != fn)
		return false;
	*t = *lz_decoder_top(d);
	return true;
}

struct candidate {
	struct lz_act act;
	bool local;
};

/* Where an activation wrote its own markers: stream offsets behind them. */
struct own {
	uint64_t enter;
	uint64_t *at;
	size_t n, cap;
};

enum { ENOUGH_OWN = 2048 };

static int note_own(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct own *o = arg;
	struct lz_act *top = lz_decoder_top(d);

	if (!top || top->enter != o->enter || m->code == LZ_ENTER || m->code == LZ_EXIT ||
	    m->code == LZ_TAIL)
		return 0;
	if (o->n == o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 256;
		uint64_t *p = reallocarray(o->at, cap, sizeof(*p));

		if (!p)
			return lz_fail("out of memory for the markers of one activation");
		o->at = p;
		o->cap = cap;
	}
	o->at[o->n++] = m->offset + lz_marker_size(m->code);
	return 0;
}

/* The own markers of the activation that lie in the block, before the goal; 1: it began in it. */
static int own_in_block(struct lz_nav *nav, uint32_t block, const struct candidate *k,
                        struct own *o)
{
	uint8_t *watch = calloc(lz_stream_n_fns(nav->stream) + 1, 1);
	int rc;

	o->enter = k->act.enter;
	o->n = 0;
	if (!watch)
		return lz_fail("out of memory for navigation");
	if (k->act.fn != LZ_FN_NONE)
		watch[k->act.fn] = 1;
	if (k->local)
		rc = lz_stream_decode_local(nav->stream, block, nav->goal.marker, watch, note_own,
		                            o);
	else
		rc = lz_stream_decode(nav->stream, block, nav->goal.marker, watch, note_own, o);
	free(watch);
	if (rc < 0)
		return -1;
	return k->local || lz_stream_block_of(nav->stream, k->act.enter) >= block;
}

struct found {
	bool foreign; /* the goal is not in this activation */
	bool deeper;  /* there is an answer, but it lies in an inlined call */
};

/* Tries the anchor; 1: found. */
static int try_next(struct lz_nav *nav, uint64_t anchor, struct lz_chain *c, struct lz_pos *answer,
                    struct found *f)
{
	const struct lz_chain_stop *p;
	enum chain_end end;

	if (build(nav, anchor, true, c, &end))
		return -1;
	f->foreign = end == CHAIN_OVER || end == CHAIN_LOST;
	p = predecessor(nav, c, end, false);
	if (!p)
		return 0;
	*answer = p->pos;
	p = predecessor(nav, c, end, true);
	if (p)
		*answer = p->pos;
	/* In an inlined call that has ended since: the line of the call is further back. */
	f->deeper = !p;
	return p != NULL;
}

/* Anchors at the own markers of T, further and further back. 1: found. */
static int search_activation(struct lz_nav *nav, const struct candidate *k, struct lz_chain *c,
                             struct lz_pos *answer)
{
	const struct lz_act *t = &k->act;
	struct own o = {0};
	uint32_t block = lz_stream_block_of(nav->stream, nav->goal.marker);
	struct found f = {0};
	size_t back = 2;
	int rc = 0, first = 0;

	while (!rc && !first && !f.foreign) {
		first = own_in_block(nav, block, k, &o);
		if (first < 0)
			rc = -1;
		while (!rc && !f.foreign && back < o.n) {
			if (f.deeper && back > DEEPER_FAR)
				goto out;
			rc = try_next(nav, o.at[o.n - 1 - back], c, answer, &f);
			back *= 5;
		}
		if (f.deeper && o.n > DEEPER_FAR)
			goto out;
		if (!rc && !f.foreign && o.n > 1)
			rc = try_next(nav, o.at[0], c, answer, &f);
		back = 16;
		block--;
	}
	if (!rc && !f.foreign)
		rc = try_next(nav, t->enter + 5, c, answer, &f);
out:
	free(o.at);
	return rc ? rc : f.deeper;
}

/* The activations that the present position may belong to: the running one, or one that has written its
 * exit marker but not returned. */
static size_t own_activations(struct lz_nav *nav, struct candidate t[2])
{
	uint32_t fn = lz_stream_fn_at(nav->stream, nav->goal.ip, nav->goal.event);
	uint64_t at = nav->goal.marker;
	size_t n = 0;

	if (fn == LZ_FN_NONE)
		return 0;
	if (running_at(nav, at, fn, &t[n].act, &t[n].local))
		n++;
	if (at && running_at(nav, at - 1, fn, &t[n].act, &t[n].local) &&
	    (!n || t[1].act.enter != t[0].act.enter))
		n++;
	return n;
}

/* The activation that has just been left for code without markers, if any. */
static size_t left_activation(struct lz_nav *nav, struct candidate *t)
{
	uint64_t at = nav->goal.marker;
	struct lz_decoder *d = at ? lz_stream_stack(nav->stream, at) : NULL;
	size_t depth = d ? d->n : 0;

	d = at ? lz_stream_stack(nav->stream, at - 1) : NULL;
	if (!d || d->n <= depth)
		return 0;
	*t = (struct candidate){.act = *lz_decoder_top(d)};
	return 1;
}

static int search_next(struct lz_nav *nav, struct lz_pos *answer)
{
	struct lz_chain c = {0};
	struct candidate t[2];
	size_t n = own_activations(nav, t);
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = search_activation(nav, &t[i], &c, answer);
	if (!rc)
		rc = search_step(nav, true, answer);
	else if (rc == 1)
		keep(&nav->next, &c);
	if (!rc && !n && left_activation(nav, t))
		rc = search_activation(nav, &t[0], &c, answer);
	free(c.stop);
	return rc ? rc : search_step(nav, false, answer);
}

/* ---- the session's calls ---- */

/* An answer from the chain that was found last. 1: there is none. */
static int from_cache(struct lz_nav *nav, bool next, struct lz_stop *stop)
{
	const struct lz_pos *p = cached(next ? &nav->next : &nav->step, &nav->goal);
	struct lz_pos to;

	if (!p)
		return 1;
	to = *p;
	return go(nav, &to, stop);
}

static int back(struct lz_session *s, bool next, struct lz_stop *stop)
{
	struct lz_nav *nav = lz_nav_of(s);
	struct lz_pos here, answer;
	int rc;

	if (!nav)
		return -1;
	lz_session_where(s, &nav->goal);
	here = nav->goal;
	rc = from_cache(nav, next, stop);
	if (rc <= 0)
		return rc;
	rc = next ? search_next(nav, &answer) : search_step(nav, false, &answer);
	if (rc >= 0)
		rc = rc ? go(nav, &answer, stop) : go_to_start(nav, stop);
	if (!rc)
		return 0;
	if (lz_session_restore(s, &here) || !nav->interrupted)
		return -1;
	*stop = (struct lz_stop){.reason = LZ_STOP_INTERRUPTED, .pos = here};
	return 0;
}

int lz_session_back_step(struct lz_session *s, struct lz_stop *stop)
{
	return back(s, false, stop);
}

int lz_session_back_next(struct lz_session *s, struct lz_stop *stop)
{
	return back(s, true, stop);
}
