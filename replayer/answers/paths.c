/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For each activation on a stack it is kept how far down the shortest part of the stack begins that
 * ends there and holds the first functions of a chain. So a new activation costs as much as the path
 * has functions, however deep the stack is. */
#include "replayer/answers/paths.h"

#include "replayer/answers/crew.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

enum { NOWHERE = -1 };

struct frame {
	uint64_t id, begin;
	uint32_t fn, name;
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
};

/* A chain that ends with the activation that begins at AT. */
struct found {
	uint64_t from, at;
	uint32_t thread, chain;
	uint32_t name, n; /* the innermost of N functions */
};

/* The function of a frame, and the name of the one outside of it. */
struct name {
	uint32_t fn, outside;
};

/* Chains up to number K were found in a thread, the first one with a function that began then, the
 * latest. */
struct before {
	bool found[LZ_PATH_CHAINS];
	uint64_t from[LZ_PATH_CHAINS];
};

/* Of all that read: it goes on from block to block. */
struct telling {
	const struct lz_path *p;
	uint64_t within;
	lz_path_fn *fn;
	void *arg;
	const struct lz_crew *crew;
	struct before *before; /* [n_threads] */
	uint32_t *names;       /* of the present match */
	size_t names_room;
};

/* Of one that reads: what it has found in a block, until it is that block's turn. */
struct searching {
	struct lz_asked *a;
	const struct lz_path *p;
	struct telling *telling;
	uint64_t begun;      /* where the block begins */
	struct stack *stack; /* [n_threads] */
	uint32_t n_threads;
	struct name *name;
	size_t n_names, names_room;
	struct found *found;
	size_t n_found, found_room;
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

static int note(struct searching *x, const struct stack *s, uint32_t thread, uint32_t chain,
                int32_t begin)
{
	const struct frame *f = &s->v[s->n - 1];

	if (lz_reserve(x->found, x->found_room, x->n_found + 1) < 0)
		return -1;
	x->found[x->n_found++] = (struct found){.from = s->v[begin].begin,
	                                        .at = f->begin,
	                                        .thread = thread,
	                                        .chain = chain,
	                                        .name = f->name,
	                                        .n = (uint32_t)(s->n - (size_t)begin)};
	return 0;
}

/* The last chain first: a call is not behind itself. */
static int complete(struct searching *x, struct stack *s, uint32_t thread)
{
	int rc = 0;

	for (unsigned i = x->p->n_chains; rc == 0 && i-- > 0;) {
		const int32_t begin = chain_at(x->p, s, i);

		if (begin != NOWHERE)
			rc = note(x, s, thread, i, begin);
	}
	return rc;
}

/* ---- the walk ---- */

static int add(struct searching *x, struct stack *s, const struct lz_act *act, uint32_t thread)
{
	struct frame f = {.id = lz_act_id(act),
	                  .begin = lz_act_begin(act),
	                  .fn = act->fn,
	                  .name = (uint32_t)x->n_names};

	if (s->n >= INT32_MAX || x->n_names >= UINT32_MAX ||
	    lz_reserve(s->v, s->room, s->n + 1) < 0 ||
	    lz_reserve(x->name, x->names_room, x->n_names + 1) < 0)
		return lz_fail("out of memory for a call stack");
	x->name[x->n_names++] = (struct name){act->fn, s->n ? s->v[s->n - 1].name : 0};
	fill_frame(x->p, s, &f);
	s->v[s->n++] = f;
	return act->enter < s->at ? 0 : complete(x, s, thread);
}

/* Of the first N on the stack those that are new are looked at. */
static int follow(struct searching *x, const struct lz_decoder *d, size_t n, uint64_t at)
{
	struct stack *s = &x->stack[d->thread];
	int rc = 0;

	while (s->n && (s->n > n || s->v[s->n - 1].id != lz_act_id(&d->acts[s->n - 1])))
		s->n--;
	while (!rc && s->n < n)
		rc = add(x, s, &d->acts[s->n], d->thread);
	s->at = at;
	return rc;
}

/* At once: what other threads call next is later. */
static int begin(struct searching *x, struct lz_decoder *d, const struct lz_mark *m)
{
	const struct lz_act act = {.enter = m->offset, .fn = lz_decoder_fn(d, m->entry, m->offset)};
	const int rc = follow(x, d, lz_decoder_below(d), m->offset);

	return rc ? rc : add(x, &x->stack[d->thread], &act, d->thread);
}

static bool is_asked(const struct searching *x, const struct lz_decoder *d)
{
	return d->thread < x->n_threads && lz_asked_thread(x->a, d->thread);
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct searching *x = arg;

	if (!is_asked(x, d))
		return 0;
	return m->code == LZ_ENTER ? begin(x, d, m) : follow(x, d, d->n, m->offset);
}

static int on_begin(void *arg, struct lz_decoder *d, uint64_t offset)
{
	struct searching *x = arg;

	(void)d;
	if (!x->stack && !(x->stack = calloc(x->n_threads + 1u, sizeof(*x->stack))))
		return lz_fail("out of memory for %u threads", x->n_threads);
	x->begun = offset;
	for (uint32_t i = 0; i < x->n_threads; i++) {
		x->stack[i].n = 0;
		x->stack[i].at = lz_crew_has_run(x->telling->crew, i, offset) ? offset : 0;
	}
	x->n_names = 0;
	return 0;
}

static int on_end(void *arg, struct lz_decoder *d, uint64_t offset)
{
	struct searching *x = arg;

	return is_asked(x, d) && offset > x->begun ? follow(x, d, d->n, offset) : 0;
}

/* ---- in order ---- */

static int tell(struct searching *x, const struct found *f, uint64_t from)
{
	struct telling *t = x->telling;

	if (f->at - from > t->within)
		return 0;
	if (lz_reserve(t->names, t->names_room, f->n) < 0)
		return -1;
	uint32_t name = f->name;
	for (uint32_t i = f->n; i-- > 0; name = x->name[name].outside)
		t->names[i] = x->name[name].fn;
	const struct lz_path_match m = {f->thread, from, f->at, t->names, f->n};
	return t->fn(t->arg, &m);
}

static int take(struct searching *x, const struct found *f)
{
	struct before *b = &x->telling->before[f->thread];
	const uint32_t i = f->chain;

	if (i && !b->found[i - 1])
		return 0;
	const uint64_t from = i ? b->from[i - 1] : f->from;
	if (i == x->p->n_chains - 1)
		return tell(x, f, from);
	if (!b->found[i] || from > b->from[i]) {
		b->found[i] = true;
		b->from[i] = from;
	}
	return 0;
}

static int take_all(void *arg)
{
	struct searching *x = arg;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n_found; i++)
		rc = take(x, &x->found[i]);
	x->n_found = 0;
	return rc;
}

static void end_searching(struct searching *x)
{
	for (uint32_t i = 0; x->stack && i < x->n_threads; i++)
		free(x->stack[i].v);
	free(x->stack);
	free(x->name);
	free(x->found);
}

int lz_path_search(struct lz_asked *a, const struct lz_path *p, uint64_t within, lz_path_fn *fn,
                   void *arg)
{
	struct lz_crew crew;
	struct telling t = {.p = p, .within = within, .fn = fn, .arg = arg, .crew = &crew};
	struct lz_spread w = {.calls_only = true,
	                      .fn = on_mark,
	                      .begin = on_begin,
	                      .end = on_end,
	                      .in_order = take_all};
	int rc = lz_crew_make(&crew, a, sizeof(struct searching), &w);

	t.before = calloc(a->threads.n + 1u, sizeof(*t.before));
	if (!t.before)
		rc = lz_fail("out of memory for %u threads", a->threads.n);
	for (unsigned i = 0; rc == 0 && i < w.n; i++)
		*(struct searching *)w.arg[i] =
		    (struct searching){.a = a, .p = p, .telling = &t, .n_threads = a->threads.n};
	if (rc == 0)
		rc = lz_asked_spread(a, "reading the control flow", &w);
	for (unsigned i = 0; i < w.n; i++)
		end_searching(w.arg[i]);
	lz_crew_free(&crew);
	free(t.before);
	free(t.names);
	return rc;
}
