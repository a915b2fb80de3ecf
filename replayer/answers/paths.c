/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For each activation on a stack it is kept how far down the shortest part of the stack begins that
 * ends there and holds the first functions of a chain. So a new activation costs as much as the path
 * has functions, however deep the stack is. */
#include "replayer/answers/paths.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

enum { NOWHERE = -1 };

struct frame {
	uint64_t id, begin;
	uint32_t fn;
	/* Index of the frame with a chain's first function, where the one of step K is this one, and
	 * where it is this one or one further out. */
	int32_t here[LZ_PATH_STEPS], upto[LZ_PATH_STEPS];
	/* Index of the innermost frame up to this one that a chain must do without. */
	int32_t barred[LZ_PATH_CHAINS];
};

struct stack {
	struct frame *v;
	size_t n, room;
	uint64_t at; /* the last marker that was looked at: what began before it has been told */
	/* Chains up to number K were found, the first one with a function that began then, the latest */
	bool found[LZ_PATH_CHAINS];
	uint64_t from[LZ_PATH_CHAINS];
};

struct searching {
	struct lz_asked *a;
	const struct lz_path *p;
	uint64_t within;
	lz_path_fn *fn;
	void *arg;
	struct stack *stack; /* [n_threads] */
	uint32_t n_threads;
	uint32_t *names; /* of the present match */
	size_t names_room;
};

static bool is_in(const uint8_t *functions, uint32_t fn)
{
	return functions && fn != LZ_FN_NONE && functions[fn];
}

/* ---- a new frame ---- */

static int32_t begin_of(const struct lz_path *p, const struct lz_path_chain *c, unsigned k,
                        const struct stack *s, uint32_t fn)
{
	const struct frame *above = s->n ? &s->v[s->n - 1] : NULL;

	if (!is_in(p->step[k].is, fn))
		return NOWHERE;
	if (k == c->first)
		return (int32_t)s->n;
	if (!above)
		return NOWHERE;
	return p->step[k].direct ? above->here[k - 1] : above->upto[k - 1];
}

static void fill_frame(const struct lz_path *p, const struct stack *s, struct frame *f)
{
	const struct frame *above = s->n ? &s->v[s->n - 1] : NULL;

	for (unsigned i = 0; i < p->n_chains; i++) {
		const struct lz_path_chain *c = &p->chain[i];
		for (unsigned k = c->first; k < c->first + c->n; k++) {
			const int32_t before = above ? above->upto[k] : NOWHERE;
			f->here[k] = begin_of(p, c, k, s, f->fn);
			f->upto[k] = f->here[k] > before ? f->here[k] : before;
		}
		f->barred[i] = is_in(c->without, f->fn) ? (int32_t)s->n
		               : above                  ? above->barred[i]
		                                        : NOWHERE;
	}
}

/* ---- what it completes ---- */

/* Where chain I begins that ends with the innermost frame. */
static int32_t chain_at(const struct lz_path *p, const struct stack *s, unsigned i)
{
	const struct lz_path_chain *c = &p->chain[i];
	const struct frame *f = &s->v[s->n - 1];
	const int32_t begin = f->here[c->first + c->n - 1];
	const int32_t barred = s->n > 1 ? s->v[s->n - 2].barred[i] : NOWHERE;

	return begin != NOWHERE && barred <= begin ? begin : NOWHERE;
}

static int tell(struct searching *x, const struct stack *s, uint32_t thread, int32_t begin,
                uint64_t from)
{
	const struct frame *f = &s->v[s->n - 1];
	const size_t n = s->n - (size_t)begin;

	if (f->begin - from > x->within)
		return 0;
	if (lz_reserve(x->names, x->names_room, n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		x->names[i] = s->v[(size_t)begin + i].fn;
	const struct lz_path_match m = {thread, from, f->begin, x->names, n};
	return x->fn(x->arg, &m);
}

/* The last chain first: a call is not behind itself. */
static int complete(struct searching *x, struct stack *s, uint32_t thread)
{
	const unsigned last = x->p->n_chains - 1;
	int rc = 0;

	for (unsigned i = last + 1; rc == 0 && i-- > 0;) {
		const int32_t begin = chain_at(x->p, s, i);
		if (begin == NOWHERE || (i && !s->found[i - 1]))
			continue;
		const uint64_t from = i ? s->from[i - 1] : s->v[begin].begin;
		if (i == last) {
			rc = tell(x, s, thread, begin, from);
		} else if (!s->found[i] || from > s->from[i]) {
			s->found[i] = true;
			s->from[i] = from;
		}
	}
	return rc;
}

/* ---- the walk ---- */

static int add(struct searching *x, struct stack *s, const struct lz_act *act, uint32_t thread)
{
	struct frame f = {.id = lz_act_id(act), .begin = lz_act_begin(act), .fn = act->fn};

	if (s->n >= INT32_MAX || lz_reserve(s->v, s->room, s->n + 1) < 0)
		return lz_fail("out of memory for a call stack");
	fill_frame(x->p, s, &f);
	s->v[s->n++] = f;
	return act->enter < s->at ? 0 : complete(x, s, thread);
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct searching *x = arg;
	int rc = 0;

	if (d->thread >= x->n_threads || !lz_asked_thread(x->a, d->thread))
		return 0;
	struct stack *s = &x->stack[d->thread];
	while (s->n && (s->n > d->n || s->v[s->n - 1].id != lz_act_id(&d->acts[s->n - 1])))
		s->n--;
	while (!rc && s->n < d->n)
		rc = add(x, s, &d->acts[s->n], d->thread);
	s->at = m->offset;
	return rc;
}

int lz_path_search(struct lz_asked *a, const struct lz_path *p, uint64_t within, lz_path_fn *fn,
                   void *arg)
{
	struct searching x = {
	    .a = a, .p = p, .within = within, .fn = fn, .arg = arg, .n_threads = a->threads.n};
	struct lz_walk walk = {.calls_only = true, .fn = on_mark, .arg = &x};
	int rc = -1;

	x.stack = calloc(x.n_threads + 1u, sizeof(*x.stack));
	if (x.stack)
		rc = lz_asked_walk(a, "reading the control flow", &walk);
	else
		lz_fail("out of memory for %u threads", x.n_threads);
	if (rc == 0 && !a->partial)
		rc = on_mark(&x, lz_stream_decoder(a->stream), &(struct lz_mark){.offset = a->to});
	for (uint32_t i = 0; x.stack && i < x.n_threads; i++)
		free(x.stack[i].v);
	free(x.stack);
	free(x.names);
	return rc;
}
