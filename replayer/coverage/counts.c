/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/coverage/counts.h"

#include "replayer/coverage/counted_paths.h"
#include "replayer/answers/last_frames.h"
#include "replayer/answers/tally.h"
#include "replayer/coverage/unwound.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* ---- pairs of markers ---- */

/* A pair is an index into a square if there is room, else a key of a tally. Ids count from 1; 0 is
 * the function's beginning, or its end; the last number is a landing. */
enum { ROOM = 128 << 20 }; /* bytes of squares, of which most are never touched */

struct counting {
	struct lz_asked *a;
	struct lz_counts *c;
	struct lz_pairs *pairs;  /* [n]; side 0: nothing yet */
	size_t room;             /* for their squares */
	struct lz_tally *sparse; /* [n] */
	struct lz_unwound unwound;
	struct lz_lost_calls_finder *lost;
};

static uint32_t number_of(const struct lz_pairs *p, uint32_t id)
{
	if (id == LZ_SET_ENTER || id == LZ_SET_EXIT)
		return 0;
	return id < p->side - 1 ? id : p->side - 1;
}

static int prepare(struct counting *k, uint32_t fn)
{
	const struct lz_cfg_func *f = lz_stream_fn(k->a->stream, fn)->f;
	struct lz_pairs *p = &k->pairs[fn];
	struct lz_fn_counts *c = &k->c->fn[fn];

	if (lz_pairs_make(p, f->n_markers, &k->room) < 0)
		return -1;
	c->node = calloc((size_t)f->graph.n_nodes + 1, sizeof(*c->node));
	c->edge = calloc(f->graph.n_edges + 1, sizeof(*c->edge));
	if (!c->node || !c->edge)
		return lz_fail("out of memory for the counts of %s", f->name);
	return 0;
}

/* By their numbers. */
static int add_pairs(struct counting *k, uint32_t fn, uint32_t from, uint32_t to, uint64_t n)
{
	struct lz_pairs *p = &k->pairs[fn];

	if (!p->square)
		return lz_tally_add(&k->sparse[fn], (uint64_t)from << 32 | to, n);
	p->square[(size_t)from * p->side + to] += n;
	return 0;
}

static int add_pair(struct counting *k, uint32_t fn, uint32_t from, uint32_t to)
{
	const struct lz_pairs *p = &k->pairs[fn];

	if (!p->side && prepare(k, fn) < 0)
		return -1;
	return add_pairs(k, fn, number_of(p, from), number_of(p, to), 1);
}

/* If a way leads to a landing from the last marker before it, control came by that: setjmp() has
 * returned first, or swapcontext() has. */
static int on_edge(struct counting *k, const struct lz_decoder *d, const struct lz_act *top,
                   uint32_t id)
{
	const bool by_itself = top->last == LZ_LAST_LANDING && d->landed.act == lz_act_id(top);

	return add_pair(k, top->fn, by_itself ? d->landed.last : top->last, id);
}

static int on_landing(struct counting *k, struct lz_decoder *d, const struct lz_mark *m);

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct counting *k = arg;
	const struct lz_act *top = lz_decoder_top(d);
	uint32_t fn;

	if (!lz_asked_thread(k->a, d->thread))
		return 0;
	switch (m->code) {
	case LZ_ENTER:
		fn = lz_decoder_fn(d, m->entry, m->offset);
		if (fn == LZ_FN_NONE)
			return 0;
		k->c->fn[fn].calls++;
		return k->pairs[fn].side ? 0 : prepare(k, fn);
	case LZ_LANDING: return on_landing(k, d, m);
	case LZ_EXIT:
	case LZ_TAIL:
		if (!top || top->fn == LZ_FN_NONE || top->tail)
			return 0;
		/* the call behind TAIL returns, and EXIT follows */
		if (m->code == LZ_TAIL && d->tail && d->tail(d->arg, top->fn) == LZ_TAIL_RETURNS)
			return 0;
		k->c->fn[top->fn].returns++;
		return add_pair(k, top->fn, top->last, LZ_SET_EXIT);
	default: return top && top->fn != LZ_FN_NONE ? on_edge(k, d, top, m->id) : 0;
	}
}

/* ---- from pairs to paths ---- */

static int add_path(struct lz_graph_walker *w, struct lz_counted_path *p, uint32_t from,
                    uint32_t to)
{
	uint32_t *node;
	int64_t n = lz_graph_walker_path(w, from, to, &node);

	if (n < 0)
		return lz_fail("out of memory for a path");
	/* longjmp(), an exception: it is not known from where */
	if (!n)
		lz_counted_path_add_begun(p, from);
	p->node = node;
	p->n = (size_t)n;
	lz_counted_path_add(p, from, to);
	lz_counted_path_add_marked(p, to);
	free(node);
	return 0;
}

struct solving {
	struct lz_graph_walker *w;
	struct lz_counted_path path;
	uint32_t landing; /* its number */
};

static int add_times(struct solving *s, uint32_t a, uint32_t b, uint64_t times)
{
	s->path.times = times;
	if (!times || a == s->landing)
		return 0;
	return add_path(s->w, &s->path, a ? a : LZ_SET_ENTER, b ? b : LZ_SET_EXIT);
}

static int solve(const struct lz_pairs *p, const struct lz_tally *sparse, struct solving *s)
{
	int rc = 0;

	for (size_t i = 0; p->square && !rc && i < (size_t)p->side * p->side; i++)
		rc = add_times(s, (uint32_t)(i / p->side), (uint32_t)(i % p->side), p->square[i]);
	for (size_t i = 0; !rc && i < sparse->n; i++)
		rc = add_times(s, (uint32_t)(sparse->v[i].key >> 32), (uint32_t)sparse->v[i].key,
		               sparse->v[i].n);
	return rc;
}

static int solve_fn(struct counting *k, uint32_t fn)
{
	const struct lz_graph *g = &lz_stream_fn(k->a->stream, fn)->f->graph;
	struct lz_pairs *p = &k->pairs[fn];
	struct solving s = {.path = {.g = g, .c = &k->c->fn[fn]}, .landing = p->side - 1};

	if (!p->side)
		return 0;
	s.w = lz_graph_walker_open(g);
	if (s.w)
		lz_graph_walker_avoid(s.w, true);
	int rc = s.w ? solve(p, &k->sparse[fn], &s)
	             : lz_fail("out of memory for the paths of a function");
	lz_graph_walker_close(s.w);
	return rc;
}

/* ---- what did not come to an end ---- */

/* Of a frame that is not exact: the line of its call. */
static uint32_t line_of(struct counting *k, const struct lz_last_frame *where)
{
	struct lz_module *mod = lz_stream_fn(k->a->stream, where->fn)->mod;
	struct lz_lines *l = lz_module_lines(k->a->modules, mod);

	return l ? lz_lines_find(l, where->pc - 1).line : 0;
}

/* WHERE: the frame of the activation; NULL: not known. */
static int add_unfinished(struct counting *k, const struct lz_act *act,
                          const struct lz_last_frame *where, uint32_t callee)
{
	const struct lz_graph *g = &lz_stream_fn(k->a->stream, act->fn)->f->graph;
	struct lz_counted_path p = {.g = g, .c = &k->c->fn[act->fn], .times = 1};
	struct lz_graph_walker *w = where ? lz_graph_walker_open(g) : NULL;
	uint32_t *node = NULL;

	if (!p.c->node) {
		lz_graph_walker_close(w);
		return 0;
	}
	int64_t n = w ? lz_graph_walker_path_to(w, act->last, where->node, &node) : 0;
	lz_graph_walker_close(w);
	if (n < 0)
		return lz_fail("out of memory for a path");
	if (!n)
		lz_counted_path_add_begun(&p, act->last);
	p.node = node;
	p.n = (size_t)n;
	lz_counted_path_add(&p, act->last, LZ_SET_EXIT);
	free(node);
	if (!n || where->exact)
		return 0;
	return lz_lost_calls_add_in(k->lost, act->fn, where->node, callee, line_of(k, where));
}

/* ACTS end with the innermost. */
static int add_stack(struct counting *k, const struct lz_act *acts, size_t n,
                     const struct lz_last_frames *f)
{
	size_t at = 0;
	int rc = 0;

	for (size_t i = n; rc == 0 && i-- > 0;) {
		const struct lz_act *a = &acts[i];
		const bool known = f && at < f->n && f->v[at].fn == a->fn;

		if (a->fn == LZ_FN_NONE || a->tail > 1)
			continue;
		rc = add_unfinished(k, a, known ? &f->v[at] : NULL,
		                    i + 1 < n ? acts[i + 1].fn : LZ_FN_NONE);
		at += known;
	}
	return rc;
}

static bool any_open(const struct lz_act *acts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (acts[i].fn != LZ_FN_NONE && acts[i].tail < 2)
			return true;
	return false;
}

/* Has a function not returned? */
static bool is_unfinished(const struct lz_decoder *d)
{
	bool open = any_open(d->acts, d->n);

	for (uint32_t t = 0; t < d->n_stacks; t++)
		open |= any_open(d->stack[t].acts, d->stack[t].n);
	return open;
}

static int add_rest(struct counting *k)
{
	struct lz_decoder *d = lz_stream_decoder(k->a->stream);
	const bool at_end = k->a->to == lz_stream_len(k->a->stream) && !k->a->partial;
	struct lz_last_frames *f = NULL;
	uint32_t n = 0;
	int rc = 0;

	if (!is_unfinished(d))
		return 0;
	if (at_end && !(f = lz_last_frames_find(k->a, &n)))
		lz_debug("the last frames are not known: %s", lz_error());
	for (uint32_t t = 0; rc == 0 && (t < d->n_stacks || t == d->thread); t++) {
		const bool runs = t == d->thread;

		if (lz_asked_thread(k->a, t))
			rc = add_stack(k, runs ? d->acts : d->stack[t].acts,
			               runs ? d->n : d->stack[t].n,
			               lz_last_frames_of(f, n, lz_asked_tid(k->a, t)));
	}
	lz_last_frames_free(f, n);
	return rc;
}

/* TO is a parked activation. Those parked with it that it has called come back with it or not at
 * all: the decoder drops what is above it. */
static int come_back(struct counting *k, const struct lz_decoder *d, const struct lz_act *to)
{
	for (size_t i = 0; i < d->n_parked; i++) {
		const struct lz_parked *p = &d->parked[i];

		for (size_t n = 0; to >= p->acts && to < p->acts + p->n && &p->acts[n] <= to; n++)
			if (lz_unwound_add(&k->unwound, true, p->acts, n, p->n) < 0)
				return -1;
	}
	return 0;
}

/* Those above go. They may come back, if they are a coroutine's; so does the one that M is of. */
static int on_landing(struct counting *k, struct lz_decoder *d, const struct lz_mark *m)
{
	size_t stay;
	const struct lz_act *to = lz_decoder_landed(d, m, &stay);
	int rc = 0;

	if (to && (to < d->acts || to >= d->acts + d->n))
		rc = come_back(k, d, to);
	for (size_t i = stay; rc == 0 && i < d->n; i++)
		rc = lz_unwound_add(&k->unwound, false, d->acts, i, d->n);
	return rc;
}

/* ---- what several threads have counted ---- */

static int add_tally(struct lz_tally *to, const struct lz_tally *from)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < from->n; i++)
		rc = lz_tally_add(to, from->v[i].key, from->v[i].n);
	return rc;
}

static int add_fn(struct counting *k, const struct counting *from, uint32_t fn)
{
	const struct lz_pairs *p = &from->pairs[fn];
	int rc = 0;

	k->c->fn[fn].calls += from->c->fn[fn].calls + p->calls;
	k->c->fn[fn].returns += from->c->fn[fn].returns + p->returns;
	if (!p->side)
		return 0;
	if (!k->pairs[fn].side && prepare(k, fn) < 0)
		return -1;
	for (size_t i = 0; p->square && rc == 0 && i < (size_t)p->side * p->side; i++)
		if (p->square[i])
			rc = add_pairs(k, fn, (uint32_t)(i / p->side), (uint32_t)(i % p->side),
			               p->square[i]);
	return rc == 0 ? add_tally(&k->sparse[fn], &from->sparse[fn]) : rc;
}

static int add_counting(struct counting *k, const struct counting *from)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < k->c->n; i++)
		rc = add_fn(k, from, (uint32_t)i);
	return rc == 0 ? lz_unwound_merge(&k->unwound, &from->unwound) : rc;
}

/* ---- all ---- */

static int begin(struct counting *k, struct lz_asked *a, struct lz_counts *c)
{
	*c = (struct lz_counts){.n = lz_stream_n_fns(a->stream)};
	*k = (struct counting){.a = a, .c = c, .room = ROOM};
	c->fn = calloc(c->n + 1, sizeof(*c->fn));
	k->pairs = calloc(c->n + 1, sizeof(*k->pairs));
	k->sparse = calloc(c->n + 1, sizeof(*k->sparse));
	return c->fn && k->pairs && k->sparse ? 0
	                                      : lz_fail("out of memory for %zu functions", c->n);
}

static void end(struct counting *k)
{
	for (size_t i = 0; k->pairs && k->sparse && i < k->c->n; i++) {
		free(k->pairs[i].square);
		lz_tally_free(&k->sparse[i]);
	}
	free(k->pairs);
	free(k->sparse);
	lz_unwound_free(&k->unwound);
	lz_lost_calls_close(k->lost);
}

static int count_on(struct counting *k, unsigned n, struct counting *other,
                    struct lz_counts *counts, struct lz_spread *w)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < n; i++) {
		rc = begin(&other[i], k->a, &counts[i]);
		w->arg[i] = &other[i];
		w->pairs[i] = other[i].pairs;
	}
	/* pairs do not say of which thread they are */
	if (k->a->tid)
		w->pairs = NULL;
	if (rc == 0)
		rc = lz_asked_spread(k->a, "counting", w);
	for (unsigned i = 0; i < n; i++) {
		if (rc == 0)
			rc = add_counting(k, &other[i]);
		if (other[i].c) {
			end(&other[i]);
			lz_counts_free(&counts[i]);
		}
	}
	return rc;
}

static int count_apart(struct counting *k, unsigned n)
{
	struct counting *other = calloc(n, sizeof(*other));
	struct lz_counts *counts = calloc(n, sizeof(*counts));
	void **arg = calloc(n, sizeof(*arg));
	struct lz_pairs **pairs = calloc(n, sizeof(*pairs));
	struct lz_spread w = {.fn = on_mark, .inner = true, .arg = arg, .n = n, .pairs = pairs};
	const int rc = other && counts && arg && pairs ? count_on(k, n, other, counts, &w)
	                                               : lz_fail("out of memory for %u threads", n);

	free(other);
	free(counts);
	free(arg);
	free(pairs);
	return rc;
}

static int count(struct counting *k)
{
	struct lz_walk w = {.fn = on_mark, .arg = k};
	const unsigned cpus = lz_asked_cpus();

	return cpus ? count_apart(k, cpus) : lz_asked_walk(k->a, "counting", &w);
}

int lz_counts_make(struct lz_asked *a, struct lz_counts *c)
{
	struct counting k;
	int rc = begin(&k, a, c);

	if (rc == 0)
		rc = count(&k);
	for (size_t i = 0; rc == 0 && i < c->n; i++)
		rc = solve_fn(&k, (uint32_t)i);
	if (rc == 0)
		rc = (k.lost = lz_lost_calls_open(a, c)) ? add_rest(&k) : -1;
	if (rc == 0)
		rc = lz_unwound_count(&k.unwound, k.lost);
	end(&k);
	if (rc < 0)
		lz_counts_free(c);
	return rc;
}

void lz_counts_free(struct lz_counts *c)
{
	for (size_t i = 0; c->fn && i < c->n; i++) {
		free(c->fn[i].node);
		free(c->fn[i].edge);
		free(c->fn[i].lost);
	}
	free(c->fn);
	*c = (struct lz_counts){0};
}
