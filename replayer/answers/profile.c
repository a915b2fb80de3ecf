/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/profile.h"

#include "replayer/answers/crew.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree of chains ---- */

static int add_node(struct lz_profile *p, uint32_t parent, uint32_t fn, uint64_t at)
{
	if (p->n == UINT32_MAX)
		return lz_fail("too many chains of callers");
	if (lz_reserve(p->node, p->room, p->n + 1) < 0)
		return -1;
	p->node[p->n++] = (struct lz_profile_node){.parent = parent, .fn = fn, .first = at};
	return 0;
}

static int child_of(struct lz_profile *p, uint32_t parent, uint32_t fn, uint64_t at, uint32_t *node)
{
	struct lz_tally_row *row = lz_tally_row(&p->child, (uint64_t)parent << 32 | fn);

	if (!row)
		return -1;
	if (!row->n) {
		row->n = p->n;
		if (add_node(p, parent, fn, at) < 0)
			return -1;
	}
	*node = (uint32_t)row->n;
	return 0;
}

/* ---- the walk ---- */

/* The activations of a thread, as they were at the last marker that was looked at. */
struct chain {
	struct link {
		uint64_t id;
		uint32_t node;
	} * v;
	size_t n, room;
	uint64_t at; /* the last marker of the thread: what began before it has been counted */
};

/* Of one thread that reads. */
struct profiling {
	struct lz_asked *a;
	struct lz_profile p;
	struct chain *chain; /* [n_threads] */
	uint32_t n_threads;
	uint64_t at; /* what is before has been given to somebody */
};

/* Those on the stack that are new get their nodes; those that are gone go. */
static int follow(struct profiling *f, struct chain *c, const struct lz_decoder *d, uint64_t at)
{
	while (c->n && (c->n > d->n || c->v[c->n - 1].id != lz_act_id(&d->acts[c->n - 1])))
		c->n--;
	if (lz_reserve(c->v, c->room, d->n) < 0)
		return -1;
	for (; c->n < d->n; c->n++) {
		struct link *l = &c->v[c->n];
		const struct lz_act *act = &d->acts[c->n];
		const size_t above = c->n < LZ_PROFILE_DEPTH ? c->n : LZ_PROFILE_DEPTH;

		l->id = lz_act_id(act);
		if (child_of(&f->p, above ? c->v[above - 1].node : 0, act->fn, at, &l->node) < 0)
			return -1;
		if (act->inherited || act->enter < c->at)
			continue;
		f->p.node[l->node].calls++;
		if (c->n && lz_tally_add(&f->p.edge, (uint64_t)act[-1].fn << 32 | act->fn, 1) < 0)
			return -1;
	}
	return 0;
}

/* All up to AT was the running activation's. */
static int give(void *arg, struct lz_decoder *d, uint64_t at)
{
	struct profiling *f = arg;
	/* a piece may begin inside of a marker */
	const uint64_t more = at > f->at ? at - f->at : 0;

	if (d->thread >= f->n_threads)
		return 0;
	struct chain *c = &f->chain[d->thread];
	f->at += more;
	if (!lz_asked_thread(f->a, d->thread))
		return 0;
	if (follow(f, c, d, at) < 0)
		return -1;
	c->at = at;
	f->p.node[c->n ? c->v[c->n - 1].node : 0].self += more;
	return 0;
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	/* EXIT and TAIL are of who leaves, ENTER of who is entered */
	const bool leaves = m->code == LZ_EXIT || m->code == LZ_TAIL;

	return give(arg, d, m->offset + leaves);
}

/* Once, with the root. */
static int begin(struct profiling *f)
{
	if (!f->chain && !(f->chain = calloc(f->n_threads + 1u, sizeof(*f->chain))))
		return lz_fail("out of memory for %u threads", f->n_threads);
	return f->p.n ? 0 : add_node(&f->p, 0, LZ_FN_NONE, 0);
}

static int on_begin(void *arg, struct lz_decoder *d, uint64_t offset)
{
	struct profiling *f = arg;

	(void)d;
	if (begin(f) < 0)
		return -1;
	f->at = offset > f->a->from ? offset : f->a->from;
	for (uint32_t i = 0; i < f->n_threads; i++) {
		f->chain[i].n = 0;
		f->chain[i].at = offset;
	}
	return 0;
}

/* ---- what several threads have found ---- */

static int add_edges(struct lz_tally *to, const struct lz_tally *from)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < from->n; i++)
		rc = lz_tally_add(to, from->v[i].key, from->v[i].n);
	return rc;
}

static int add_nodes(struct lz_profile *to, const struct lz_profile *from, uint32_t *number)
{
	for (size_t i = 1; i < from->n; i++) {
		const struct lz_profile_node *one = &from->node[i];

		if (child_of(to, number[one->parent], one->fn, one->first, &number[i]) < 0)
			return -1;
		struct lz_profile_node *sum = &to->node[number[i]];
		sum->calls += one->calls;
		sum->self += one->self;
		if (one->first < sum->first)
			sum->first = one->first;
	}
	return 0;
}

static int add_profile(struct lz_profile *to, const struct lz_profile *from)
{
	uint32_t *number = calloc(from->n + 1, sizeof(*number));
	int rc = number ? add_nodes(to, from, number) : lz_fail("out of memory for a profile");

	free(number);
	to->node[0].self += from->node[0].self;
	return rc == 0 ? add_edges(&to->edge, &from->edge) : rc;
}

/* A node by where it was met. */
struct met {
	uint64_t first;
	uint32_t depth, fn, node;
};

static int by_first(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->fn < y->fn ? -1 : x->fn > y->fn;
}

/* MET has all nodes in their new order, the root in front. */
static void put_in_order(struct lz_profile *p, const struct met *met, uint32_t *number,
                         struct lz_profile_node *node)
{
	for (uint32_t i = 0; i < p->n; i++)
		number[met[i].node] = i;
	for (size_t i = 0; i < p->n; i++) {
		node[i] = p->node[met[i].node];
		node[i].parent = number[node[i].parent];
	}
	memcpy(p->node, node, p->n * sizeof(*node));
}

/* As one walk would have met them. */
static int sort(struct lz_profile *p)
{
	struct met *met = calloc(p->n, sizeof(*met));
	uint32_t *number = calloc(p->n, sizeof(*number));
	struct lz_profile_node *node = calloc(p->n, sizeof(*node));
	const bool ok = met && number && node;

	for (uint32_t i = 1; ok && i < p->n; i++)
		met[i] = (struct met){.first = p->node[i].first,
		                      .depth = met[p->node[i].parent].depth + 1,
		                      .fn = p->node[i].fn,
		                      .node = i};
	if (ok) {
		qsort(met + 1, p->n - 1, sizeof(*met), by_first);
		put_in_order(p, met, number, node);
	}
	free(met);
	free(number);
	free(node);
	return ok ? 0 : lz_fail("out of memory for %zu chains of callers", p->n);
}

static void add_up(struct lz_profile *p)
{
	for (size_t i = p->n; i-- > 1;) {
		p->node[i].all += p->node[i].self;
		p->node[p->node[i].parent].all += p->node[i].all;
	}
	p->node[0].all += p->node[0].self;
}

/* ---- all ---- */

static void end(struct profiling *f)
{
	for (uint32_t i = 0; f->chain && i < f->n_threads; i++)
		free(f->chain[i].v);
	free(f->chain);
	lz_profile_free(&f->p);
}

static int make(struct lz_asked *a, struct lz_spread *w, struct lz_profile *p)
{
	struct profiling *first = w->arg[0];
	int rc;

	for (unsigned i = 0; i < w->n; i++)
		*(struct profiling *)w->arg[i] =
		    (struct profiling){.a = a, .n_threads = a->threads.n};
	rc = lz_asked_spread(a, "reading the control flow", w);
	for (unsigned i = 0; rc == 0 && i < w->n; i++)
		rc = begin(w->arg[i]);
	for (unsigned i = 1; rc == 0 && i < w->n; i++)
		rc = add_profile(&first->p, &((struct profiling *)w->arg[i])->p);
	if (rc)
		return rc;
	*p = first->p;
	first->p = (struct lz_profile){0};
	if (sort(p) < 0)
		return -1;
	add_up(p);
	return 0;
}

int lz_profile_make(struct lz_asked *a, struct lz_profile *p)
{
	struct lz_spread w = {.calls_only = true, .fn = on_mark, .begin = on_begin, .end = give};
	struct lz_crew crew;
	int rc = lz_crew_make(&crew, a, sizeof(struct profiling), &w);

	*p = (struct lz_profile){0};
	if (rc == 0)
		rc = make(a, &w, p);
	for (unsigned i = 0; i < w.n; i++)
		end(w.arg[i]);
	lz_crew_free(&crew);
	return rc;
}

void lz_profile_free(struct lz_profile *p)
{
	free(p->node);
	lz_tally_free(&p->child);
	lz_tally_free(&p->edge);
	*p = (struct lz_profile){0};
}

/* ---- functions ---- */

static bool is_below_itself(const struct lz_profile *p, size_t node)
{
	for (uint32_t i = p->node[node].parent; i; i = p->node[i].parent)
		if (p->node[i].fn == p->node[node].fn)
			return true;
	return false;
}

static int by_self(const void *a, const void *b)
{
	const struct lz_profile_fn *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->fn < y->fn ? -1 : x->fn > y->fn;
}

struct lz_profile_fn *lz_profile_fns(const struct lz_asked *a, const struct lz_profile *p,
                                     size_t *n)
{
	const size_t all = lz_stream_n_fns(a->stream);
	struct lz_profile_fn *fns = calloc(all + 1, sizeof(*fns));

	*n = 0;
	if (!fns) {
		lz_fail("out of memory for %zu functions", all);
		return NULL;
	}
	for (size_t i = 1; i < p->n; i++) {
		const struct lz_profile_node *node = &p->node[i];

		if (node->fn >= all)
			continue;
		fns[node->fn].calls += node->calls;
		fns[node->fn].self += node->self;
		if (!is_below_itself(p, i))
			fns[node->fn].all += node->all;
	}
	for (size_t i = 0; i < all; i++)
		if (fns[i].calls || fns[i].self) {
			fns[*n] = fns[i];
			fns[(*n)++].fn = (uint32_t)i;
		}
	qsort(fns, *n, sizeof(*fns), by_self);
	return fns;
}
