/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/coverage/source_counts.h"

#include <lizard/cfg_format.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_ENTRY, SOURCE_EXIT };

static int allocate(struct lz_source_counts *s, uint32_t n_blocks, size_t n_arcs)
{
	*s = (struct lz_source_counts){.n_blocks = n_blocks, .n_arcs = n_arcs};
	s->block = calloc((size_t)n_blocks + 1, sizeof(*s->block));
	s->arc = calloc(n_arcs + 1, sizeof(*s->arc));
	s->into = calloc(n_arcs + 1, sizeof(*s->into));
	return s->block && s->arc && s->into ? 0 : lz_fail("out of memory for counts");
}

/* ---- what nodes and edges say ---- */

static void know_block(struct lz_counted_block *b, uint64_t n)
{
	b->n = n;
	b->known = true;
}

static void know_arc(struct lz_counted_arc *a, uint64_t n)
{
	a->n = n;
	a->known = true;
}

static uint64_t sum_of_refs(const struct lz_source_graph *g, const struct lz_source_arc *a,
                            const struct lz_fn_counts *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; c->edge && i < a->n_refs; i++)
		n += c->edge[g->refs[a->first_ref + i]];
	return n;
}

static uint64_t lost_by(const struct lz_fn_counts *c, uint32_t block)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_lost; i++)
		n += c->lost[i].block == block ? c->lost[i].n : 0;
	return n;
}

static int from_source(const struct lz_cfg_func *f, const struct lz_fn_counts *c,
                       struct lz_source_counts *s)
{
	const struct lz_source_graph *g = f->source;

	if (allocate(s, g->n_blocks, g->n_arcs) < 0)
		return -1;
	for (uint32_t i = 0; i < g->n_blocks; i++) {
		const struct lz_source_block *b = &g->blocks[i];

		s->block[i] =
		    (struct lz_counted_block){.first_line = b->first_line, .n_lines = b->n_lines};
		if (b->node != LZ_CFG_NO_NODE && i != SOURCE_ENTRY && i != SOURCE_EXIT)
			know_block(&s->block[i], c->node ? c->node[b->node] : 0);
	}
	for (uint32_t i = 0; i < g->n_arcs; i++) {
		const struct lz_source_arc *a = &g->arcs[i];

		s->arc[i] =
		    (struct lz_counted_arc){.src = a->src, .dst = a->dst, .flags = a->flags};
		if (a->flags & LZ_ARC_CALL)
			know_arc(&s->arc[i], lost_by(c, a->src));
		else if (a->n_refs)
			know_arc(&s->arc[i], sum_of_refs(g, a, c));
	}
	return 0;
}

static int from_graph(const struct lz_cfg_func *f, const struct lz_fn_counts *c,
                      struct lz_source_counts *s)
{
	const struct lz_graph *g = &f->graph;

	if (allocate(s, g->n_nodes, g->n_edges) < 0)
		return -1;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		s->block[v] = (struct lz_counted_block){.first_line = f->blocks[v].first_line,
		                                        .n_lines = f->blocks[v].n_lines};
		know_block(&s->block[v], c->node ? c->node[v] : 0);
	}
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct lz_edge *e = &g->edges[i];

		s->arc[i] = (struct lz_counted_arc){
		    .src = e->src, .dst = e->dst, .flags = e->unmarkable ? LZ_ARC_THROW : 0};
		know_arc(&s->arc[i], c->edge ? c->edge[i] : 0);
	}
	return 0;
}

/* ---- both ends of arcs ---- */

static int by_ends(const void *a, const void *b)
{
	const struct lz_counted_arc *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static void index_arcs(struct lz_source_counts *s)
{
	size_t at = 0;

	if (s->n_arcs)
		qsort(s->arc, s->n_arcs, sizeof(*s->arc), by_ends);
	for (size_t i = 0; i < s->n_arcs; i++) {
		s->block[s->arc[i].src].n_out++;
		s->block[s->arc[i].dst].n_in++;
	}
	for (uint32_t v = 0, out = 0; v < s->n_blocks; v++) {
		s->block[v].first_out = out;
		s->block[v].first_in = at;
		out += (uint32_t)s->block[v].n_out;
		at += s->block[v].n_in;
		s->block[v].n_in = 0;
	}
	for (size_t i = 0; i < s->n_arcs; i++) {
		struct lz_counted_block *b = &s->block[s->arc[i].dst];

		s->into[b->first_in + b->n_in++] = i;
	}
}

/* ---- what follows ---- */

struct following {
	struct lz_source_counts *s;
	uint32_t *queue; /* blocks of which something new is known; each arc adds two at most */
	size_t n;
};

static struct lz_counted_arc *arc_of(const struct lz_source_counts *s, uint32_t v, bool in,
                                     size_t i)
{
	const struct lz_counted_block *b = &s->block[v];

	return &s->arc[in ? s->into[b->first_in + i] : b->first_out + i];
}

/* Of one side of block V: if a single count is not known, it is what the others leave. */
static void follow(struct following *f, uint32_t v, bool in)
{
	struct lz_counted_block *b = &f->s->block[v];
	const size_t n_arcs = in ? b->n_in : b->n_out;
	struct lz_counted_arc *open = NULL;
	uint64_t sum = 0;
	size_t n_open = 0;

	for (size_t i = 0; i < n_arcs; i++) {
		struct lz_counted_arc *a = arc_of(f->s, v, in, i);

		sum += a->known ? a->n : 0;
		open = a->known ? open : a;
		n_open += !a->known;
	}
	if (!n_arcs || n_open > 1 || (n_open && !b->known))
		return;
	if (open) {
		know_arc(open, b->n > sum ? b->n - sum : 0);
		f->queue[f->n++] = in ? open->src : open->dst;
	} else if (!b->known) {
		know_block(b, sum);
		f->queue[f->n++] = v;
	}
}

static int follow_all(struct lz_source_counts *s)
{
	struct following f = {.s = s};

	f.queue = malloc(((size_t)s->n_blocks * 2 + s->n_arcs + 1) * sizeof(*f.queue));
	if (!f.queue)
		return lz_fail("out of memory for counts");
	for (uint32_t v = 0; v < s->n_blocks; v++)
		f.queue[f.n++] = v;
	while (f.n) {
		const uint32_t v = f.queue[--f.n];

		follow(&f, v, true);
		follow(&f, v, false);
	}
	free(f.queue);
	return 0;
}

/* ---- all ---- */

static void find_first(const struct lz_cfg_func *f, struct lz_source_counts *s)
{
	const uint32_t entry = f->source ? SOURCE_ENTRY : f->graph.entry;

	s->first = entry;
	if (s->n_blocks > entry && s->block[entry].n_out)
		s->first = s->arc[s->block[entry].first_out].dst;
}

int lz_source_counts_make(const struct lz_cfg_func *f, const struct lz_fn_counts *c,
                          struct lz_source_counts *s)
{
	int rc = f->source ? from_source(f, c, s) : from_graph(f, c, s);

	if (rc == 0) {
		index_arcs(s);
		find_first(f, s);
		rc = follow_all(s);
	}
	if (rc < 0)
		lz_source_counts_free(s);
	return rc;
}

void lz_source_counts_free(struct lz_source_counts *s)
{
	free(s->block);
	free(s->arc);
	free(s->into);
	*s = (struct lz_source_counts){0};
}

uint32_t lz_source_end(const struct lz_cfg_func *f, const struct lz_source_counts *s,
                       uint32_t block, uint32_t i, uint32_t *next)
{
	const struct lz_counted_block *b = &s->block[block];
	const uint32_t file = f->lines[i].file;
	uint32_t end = i;

	for (; i < b->first_line + b->n_lines && f->lines[i].file == file; i++)
		if (f->lines[i].line > f->lines[end].line)
			end = i;
	*next = i;
	return f->source && block + 1 == s->n_blocks ? LZ_NO_END : end;
}
