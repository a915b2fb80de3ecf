/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include "replayer/navigate/search_own.h"
#include "replayer/session/session.h"

/* The running activation at a stream offset, if it is of function FN. *local: it is known
 * without the index, since it began in the same block. */
static bool running_at(struct lz_nav *nav, uint64_t offset, uint32_t fn, struct lz_act *t,
                       bool *local)
{
	struct lz_decoder *d = lz_stream_stack_local(nav->stream, offset, nav->thread);

	*local = d && lz_decoder_top(d);
	if (!*local)
		d = lz_stream_stack(nav->stream, offset, nav->thread);
	if (!d || !lz_decoder_top(d) || lz_decoder_top(d)->fn != fn)
		return false;
	*t = *lz_decoder_top(d);
	return true;
}

/* Tries a walk from here; 1: found. */
static int try_here(struct lz_nav *nav, struct lz_chain *c, struct lz_pos *answer,
                    struct lz_own_found *f)
{
	const struct lz_chain_stop *p;
	enum chain_end end;
	bool sure;

	if (lz_chain_build_here(nav, true, c, &end))
		return -1;
	f->foreign = end == CHAIN_OVER || end == CHAIN_LOST;
	p = lz_chain_predecessor(c, end);
	if (!p)
		return 0;
	*answer = p->pos;
	f->passed = end == CHAIN_PASSED;
	if (f->left && !lz_chain_is_deeper(p, &c->from)) {
		f->deeper = false;
		return 1;
	}
	p = lz_chain_outer(nav, c, end, &sure);
	if (p)
		*answer = p->pos;
	/* In an inlined call that has ended since, or just behind one: the line of the call is
	 * further back. */
	f->deeper = !sure;
	return sure;
}

int lz_own_try(struct lz_nav *nav, uint64_t anchor, struct lz_chain *c, struct lz_pos *answer,
               struct lz_own_found *f)
{
	return lz_chain_seek(nav, anchor) ? -1 : try_here(nav, c, answer, f);
}

/* The same after the inlined calls around the anchor, but for so many, are left, if that is
 * before the goal. */
static int try_outside(struct lz_nav *nav, uint64_t anchor, uint32_t inlines, struct lz_chain *c,
                       struct lz_pos *answer, struct lz_own_found *f)
{
	if (lz_chain_seek(nav, anchor))
		return -1;
	if (lz_gdb_leave(&nav->machine, inlines) != LZ_STEPPED)
		return nav->interrupted || nav->gave_up ? -1 : 0;
	return try_here(nav, c, answer, f);
}

/* Where to look for anchors. */
struct ladder {
	struct lz_own_marks own;
	uint32_t inlines; /* calls that the goal is in */
	size_t back;      /* how many markers of the block have been gone back over */
};

static int read_own(struct lz_nav *nav, uint32_t block, const struct lz_candidate *k,
                    const struct lz_own_found *f, struct ladder *l)
{
	int first = lz_own_marks_in_block(nav, block, k, &l->own);

	/* What an inlined call wrote is of no use so far back: it may not be left before the
	 * goal. */
	if (first >= 0 && f->deeper && lz_own_marks_outside(nav, &l->own, l->inlines))
		return -1;
	return first;
}

/* Anchors in one block, further and further back. 1: found. */
static int search_block(struct lz_nav *nav, struct ladder *l, struct lz_chain *c,
                        struct lz_pos *answer, struct lz_own_found *f)
{
	struct lz_own_marks *o = &l->own;

	while (!f->foreign && l->back < o->n) {
		uint64_t anchor = o->mark[o->n - 1 - l->back].at;
		bool outside = f->deeper;
		int rc = outside ? try_outside(nav, anchor, l->inlines, c, answer, f)
		                 : lz_own_try(nav, anchor, c, answer, f);

		if (rc)
			return rc;
		if (outside == f->deeper)
			l->back *= outside ? 2 : 5; /* it costs little to leave a call in vain */
	}
	if (f->foreign || !o->n)
		return 0;
	return f->deeper ? try_outside(nav, o->mark[0].at, l->inlines, c, answer, f)
	                 : lz_own_try(nav, o->mark[0].at, c, answer, f);
}

/* A walk from further back was lost, as where an exception led out of a call. From the last own
 * markers to the goal there are only calls that come back. 1: found. */
static int search_near(struct lz_nav *nav, const struct ladder *l, struct lz_chain *c,
                       struct lz_pos *answer, struct lz_own_found *f)
{
	int rc = 0;

	for (size_t back = 2; back-- && !rc;)
		if (back < l->own.n)
			rc = lz_own_try(nav, l->own.mark[l->own.n - 1 - back].at, c, answer, f);
	return rc;
}

int lz_own_search(struct lz_nav *nav, const struct lz_candidate *k, bool left, struct lz_chain *c,
                  struct lz_pos *answer, bool *passed)
{
	struct ladder l = {.back = 2, .inlines = lz_gdb_inlines(&nav->machine, nav->goal.ip)};
	uint32_t block = lz_stream_block_of(nav->stream, nav->goal.marker);
	struct lz_own_found f = {.left = left};
	int rc = 0, first = 0;

	while (!rc && !first && !f.foreign) {
		first = read_own(nav, block, k, &f, &l);
		rc = first < 0 ? -1 : search_block(nav, &l, c, answer, &f);
		if (!rc && f.foreign)
			rc = search_near(nav, &l, c, answer, &f);
		l.back = 16;
		block--;
	}
	if (!rc && !f.foreign)
		rc = lz_own_try(nav, lz_act_begin(&k->act), c, answer, &f);
	free(l.own.mark);
	*passed = f.passed;
	return rc ? rc : f.deeper;
}

size_t lz_own_activations(struct lz_nav *nav, struct lz_candidate t[2])
{
	uint32_t fn = lz_stream_fn_at(nav->stream, nav->goal.ip, nav->goal.event);
	int64_t at = lz_nav_own_end(nav, nav->goal.marker);
	size_t n = 0;

	if (fn == LZ_FN_NONE || at < 0)
		return 0;
	if (running_at(nav, at, fn, &t[n].act, &t[n].local))
		n++;
	if (at && running_at(nav, at - 1, fn, &t[n].act, &t[n].local) &&
	    (!n || lz_act_id(&t[1].act) != lz_act_id(&t[0].act)))
		n++;
	return n;
}

size_t lz_own_left(struct lz_nav *nav, struct lz_candidate *t)
{
	*t = (struct lz_candidate){0};
	return lz_nav_left(nav, nav->goal.marker, &t->act);
}
