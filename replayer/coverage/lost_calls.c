/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/coverage/lost_calls.h"

#include "replayer/coverage/counted_paths.h"
#include <common/base/array.h>
#include <lizard/cfg_format.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* Edges and arcs looked at in all: a second. */
#define WORK_MAX (1ULL << 28)

struct lz_lost_calls_finder {
	struct lz_asked *a;
	struct lz_counts *c;
	const char **name; /* [n] of functions with markers, sorted */
	size_t n;
	uint64_t work;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct lz_lost_calls_finder *lz_lost_calls_open(struct lz_asked *a, struct lz_counts *c)
{
	struct lz_lost_calls_finder *l = calloc(1, sizeof(*l));

	if (l) {
		*l = (struct lz_lost_calls_finder){.a = a, .c = c, .n = c->n};
		l->name = malloc((l->n + 1) * sizeof(*l->name));
	}
	if (!l || !l->name) {
		free(l);
		lz_fail("out of memory for %zu functions", c->n);
		return NULL;
	}
	for (size_t i = 0; i < l->n; i++)
		l->name[i] = lz_stream_fn(a->stream, (uint32_t)i)->f->name;
	if (l->n)
		qsort(l->name, l->n, sizeof(*l->name), by_name);
	return l;
}

void lz_lost_calls_close(struct lz_lost_calls_finder *l)
{
	if (l)
		free(l->name);
	free(l);
}

/* ---- the calls of a function ---- */

/* Of each block of the source graph: the node whose code it is a part of. malloced. */
static uint32_t *owners(const struct lz_source_graph *g)
{
	uint32_t *owner = malloc((size_t)g->n_blocks * sizeof(*owner));
	uint32_t *ways = calloc(g->n_blocks, sizeof(*ways));

	for (uint32_t i = 0; owner && ways && i < g->n_blocks; i++)
		owner[i] = g->blocks[i].node;
	for (uint32_t i = 0; owner && ways && i < g->n_arcs; i++)
		ways[g->arcs[i].src] += !(g->arcs[i].flags & LZ_ARC_FAKE);
	/* parts of one block follow each other */
	for (uint32_t i = 0; owner && ways && i < g->n_arcs; i++) {
		const struct lz_source_arc *a = &g->arcs[i];

		if (!(a->flags & LZ_ARC_FAKE) && ways[a->src] == 1 &&
		    owner[a->dst] == LZ_CFG_NO_NODE)
			owner[a->dst] = owner[a->src];
	}
	if (!ways) {
		free(owner);
		owner = NULL;
	}
	free(ways);
	return owner;
}

enum likeness { NOT_IT, PERHAPS, BY_NAME };

/* What a pointer calls, or what a function without markers calls back, may be any function. */
static enum likeness likeness(const struct lz_lost_calls_finder *l, const char *name,
                              uint32_t callee)
{
	if (!name)
		return NOT_IT;
	if (callee != LZ_FN_NONE && !strcmp(name, lz_stream_fn(l->a->stream, callee)->f->name))
		return BY_NAME;
	if (l->n && bsearch(&name, l->name, l->n, sizeof(*l->name), by_name))
		return NOT_IT;
	return PERHAPS;
}

static bool has_line(const struct lz_cfg_func *f, const struct lz_source_block *b, uint32_t line)
{
	for (uint32_t i = 0; i < b->n_lines; i++)
		if (f->lines[b->first_line + i].line == line)
			return true;
	return false;
}

static int add_lost(struct lz_fn_counts *c, uint32_t block, uint64_t times)
{
	for (size_t i = 0; i < c->n_lost; i++)
		if (c->lost[i].block == block) {
			c->lost[i].n += times;
			return 0;
		}
	if (lz_reserve(c->lost, c->room_lost, c->n_lost + 1) < 0)
		return -1;
	c->lost[c->n_lost++] = (struct lz_lost_calls){block, times};
	return 0;
}

static bool is_too_much(struct lz_lost_calls_finder *l, uint64_t work)
{
	l->work += work;
	return l->work > WORK_MAX;
}

/* Of several calls in one node that are as likely, the one with the line, or the last. */
static uint32_t find_in(const struct lz_lost_calls_finder *l, const struct lz_cfg_func *f,
                        const uint32_t *owner, uint32_t node, uint32_t callee, uint32_t line)
{
	const struct lz_source_graph *g = f->source;
	uint32_t found = 0;
	int best = 0;

	for (uint32_t i = 0; i < g->n_blocks; i++) {
		int like = owner[i] == node ? 2 * (int)likeness(l, g->blocks[i].callee, callee) : 0;

		like += like && line && has_line(f, &g->blocks[i], line);
		if (like && like >= best) {
			best = like;
			found = i;
		}
	}
	return found;
}

int lz_lost_calls_add_in(struct lz_lost_calls_finder *l, uint32_t fn, uint32_t node,
                         uint32_t callee, uint32_t line)
{
	const struct lz_cfg_func *f = lz_stream_fn(l->a->stream, fn)->f;

	if (!f->source || is_too_much(l, f->source->n_blocks + f->source->n_arcs))
		return 0;
	uint32_t *owner = owners(f->source);
	if (!owner)
		return lz_fail("out of memory for the calls of %s", f->name);
	const uint32_t block = find_in(l, f, owner, node, callee, line);
	free(owner);
	return block ? add_lost(&l->c->fn[fn], block, 1) : 0;
}

/* ---- behind a marker ---- */

struct search {
	struct lz_lost_calls_finder *l;
	const struct lz_cfg_func *f;
	struct lz_graph_walker *w;
	const uint32_t *owner;
	uint32_t last, callee;
	uint32_t node; /* LZ_CFG_NO_NODE: not found, or several */
	enum likeness best;
};

/* -1: out of memory. */
static int is_behind(struct search *s, uint32_t node)
{
	uint32_t *way = NULL;

	if (is_too_much(s->l, s->f->graph.n_edges))
		return 0;
	const int64_t n = lz_graph_walker_path_to(s->w, s->last, node, &way);
	free(way);
	return n < 0 ? -1 : n > 0;
}

static int look_at(struct search *s, uint32_t block)
{
	const enum likeness like = likeness(s->l, s->f->source->blocks[block].callee, s->callee);
	const uint32_t node = s->owner[block];

	if (like == NOT_IT || like < s->best || node == LZ_CFG_NO_NODE ||
	    (like == s->best && node == s->node))
		return 0;
	const int behind = is_behind(s, node);
	if (behind <= 0)
		return behind;
	s->node = like == s->best ? LZ_CFG_NO_NODE : node;
	s->best = like;
	return 0;
}

static int search(struct search *s)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->f->source->n_blocks; i++)
		rc = look_at(s, i);
	return rc < 0 ? lz_fail("out of memory for the calls of %s", s->f->name) : 0;
}

static int count_way(struct search *s, struct lz_fn_counts *c, uint64_t times)
{
	struct lz_counted_path p = {.g = &s->f->graph, .c = c, .times = times};
	uint32_t *way = NULL;
	const int64_t n =
	    s->node == LZ_CFG_NO_NODE ? 0 : lz_graph_walker_path_to(s->w, s->last, s->node, &way);

	if (n < 0)
		return lz_fail("out of memory for a path");
	p.node = way;
	p.n = (size_t)n;
	if (n)
		lz_counted_path_add(&p, s->last, LZ_SET_EXIT);
	else
		lz_counted_path_add_begun(&p, s->last);
	free(way);
	const uint32_t block = n ? find_in(s->l, s->f, s->owner, s->node, s->callee, 0) : 0;
	return block ? add_lost(c, block, times) : 0;
}

int lz_lost_calls_add_behind(struct lz_lost_calls_finder *l, uint32_t fn, uint32_t last,
                             uint32_t callee, uint64_t times)
{
	struct lz_fn_counts *c = &l->c->fn[fn];
	struct search s = {.l = l,
	                   .f = lz_stream_fn(l->a->stream, fn)->f,
	                   .last = last,
	                   .callee = callee,
	                   .node = LZ_CFG_NO_NODE};
	uint32_t *owner = NULL;
	int rc = 0;

	if (!c->node)
		return 0;
	s.w = lz_graph_walker_open(&s.f->graph);
	if (!s.w)
		return lz_fail("out of memory for the paths of a function");
	if (s.f->source && !is_too_much(l, s.f->source->n_blocks + s.f->source->n_arcs)) {
		s.owner = owner = owners(s.f->source);
		rc = owner ? search(&s) : lz_fail("out of memory for the calls of a function");
	}
	if (rc == 0)
		rc = count_way(&s, c, times);
	lz_graph_walker_close(s.w);
	free(owner);
	return rc;
}
