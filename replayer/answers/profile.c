/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/profile.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree of chains ---- */

static int add_node(struct lz_profile *p, uint32_t parent, uint32_t fn)
{
	if (p->n == UINT32_MAX)
		return lz_fail("too many chains of callers");
	if (lz_reserve(p->node, p->room, p->n + 1) < 0)
		return -1;
	p->node[p->n++] = (struct lz_profile_node){.parent = parent, .fn = fn};
	return 0;
}

static int child_of(struct lz_profile *p, uint32_t parent, uint32_t fn, uint32_t *node)
{
	struct lz_tally_row *row = lz_tally_row(&p->child, (uint64_t)parent << 32 | fn);

	if (!row)
		return -1;
	if (!row->n) {
		row->n = p->n;
		if (add_node(p, parent, fn) < 0)
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

struct profiling {
	struct lz_asked *a;
	struct lz_profile *p;
	struct chain *chain; /* [n_threads] */
	uint32_t n_threads;
	uint64_t at; /* what is before has been given to somebody */
};

/* Those on the stack that are new get their nodes; those that are gone go. */
static int follow(struct profiling *f, struct chain *c, const struct lz_decoder *d)
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
		if (child_of(f->p, above ? c->v[above - 1].node : 0, act->fn, &l->node) < 0)
			return -1;
		if (act->inherited || act->enter < c->at)
			continue;
		f->p->node[l->node].calls++;
		if (c->n && lz_tally_add(&f->p->edge, (uint64_t)act[-1].fn << 32 | act->fn, 1) < 0)
			return -1;
	}
	return 0;
}

/* All up to AT was the running activation's. */
static int give(struct profiling *f, const struct lz_decoder *d, uint64_t at)
{
	if (d->thread >= f->n_threads)
		return 0;
	struct chain *c = &f->chain[d->thread];
	const uint64_t more = at - f->at;

	f->at = at;
	if (!lz_asked_thread(f->a, d->thread))
		return 0;
	if (follow(f, c, d) < 0)
		return -1;
	c->at = at;
	f->p->node[c->n ? c->v[c->n - 1].node : 0].self += more;
	return 0;
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	/* EXIT and TAIL are of who leaves, ENTER of who is entered */
	const bool leaves = m->code == LZ_EXIT || m->code == LZ_TAIL;

	return give(arg, d, m->offset + leaves);
}

static void add_up(struct lz_profile *p)
{
	for (size_t i = p->n; i-- > 1;) {
		p->node[i].all += p->node[i].self;
		p->node[p->node[i].parent].all += p->node[i].all;
	}
	if (p->n)
		p->node[0].all += p->node[0].self;
}

int lz_profile_make(struct lz_asked *a, struct lz_profile *p)
{
	struct profiling f = {.a = a, .p = p, .n_threads = a->threads.n, .at = a->from};
	struct lz_walk w = {.calls_only = true, .fn = on_mark, .arg = &f};
	int rc = -1;

	*p = (struct lz_profile){0};
	f.chain = calloc(f.n_threads + 1u, sizeof(*f.chain));
	for (uint32_t i = 0; f.chain && i < f.n_threads; i++)
		f.chain[i].at = a->from;
	if (!f.chain)
		lz_fail("out of memory for %u threads", f.n_threads);
	else if (add_node(p, 0, LZ_FN_NONE) == 0)
		rc = lz_asked_walk(a, "reading the control flow", &w);
	if (rc == 0 && !a->partial)
		rc = give(&f, lz_stream_decoder(a->stream), a->to);
	for (uint32_t i = 0; f.chain && i < f.n_threads; i++)
		free(f.chain[i].v);
	free(f.chain);
	add_up(p);
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
