/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the counts of blocks to those of lines, as gcov has it: a line of several blocks was come to
 * as often as control came into them from elsewhere, and once more for each round that a loop made
 * within the line. */
#include "replayer/answers/counts.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* Of a line; a loop in one with more is not looked for. */
enum { MOST_BLOCKS = 512 };

/* One block of one function that has something of a line. */
struct piece {
	const char *file;
	uint32_t line, node;
};

struct pieces {
	struct piece *v;
	size_t n, room;
};

static int by_line(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	const int files = strcmp(x->file, y->file);

	if (files)
		return files;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int add_piece(struct pieces *p, const char *file, uint32_t line, uint32_t node)
{
	if (!file || !line)
		return 0;
	if (lz_reserve(p->v, p->room, p->n + 1) < 0)
		return -1;
	p->v[p->n++] = (struct piece){file, line, node};
	return 0;
}

/* Where the function begins is a line of its first block. */
static int collect_begin(const struct lz_cfg_func *f, struct pieces *p)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < f->graph.n_edges; i++)
		if (f->graph.edges[i].src == f->graph.entry)
			rc = add_piece(p, f->file, f->line, f->graph.edges[i].dst);
	return rc;
}

static int collect(const struct lz_cfg *cfg, const struct lz_cfg_func *f, struct pieces *p)
{
	p->n = 0;
	int rc = collect_begin(f, p);

	for (uint32_t v = 0; v < f->graph.n_nodes; v++)
		for (uint32_t i = 0; !rc && i < f->blocks[v].n_lines; i++) {
			const struct lz_cfg_line *l = &f->lines[f->blocks[v].first_line + i];

			rc = add_piece(p, lz_cfg_file_name(cfg, l->file), l->line, v);
		}
	if (rc < 0)
		return rc;
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_line);
	return 0;
}

/* ---- one line of a function ---- */

struct line {
	const struct lz_graph *g;
	const struct lz_fn_counts *c;
	const struct piece *v; /* its blocks */
	size_t n;
	uint64_t *left; /* [n_edges]: of the edges within it, what no loop has taken yet */
	uint32_t *way;  /* [n_nodes]: edges of the way that is looked at */
	uint8_t *on;    /* [n_nodes]: is it on that way? */
};

static bool has(const struct line *l, uint32_t node)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].node == node)
			return true;
	return false;
}

static uint64_t come_from_elsewhere(const struct line *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->g->n_edges; i++) {
		const struct lz_edge *e = &l->g->edges[i];

		if (has(l, e->dst) && !has(l, e->src))
			n += l->c->edge[i];
	}
	return n;
}

/* The loop that the edges l->way[from..to) make takes what all of them have. */
static uint64_t take(struct line *l, size_t from, size_t to)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = from; i < to; i++)
		if (l->left[l->way[i]] < least)
			least = l->left[l->way[i]];
	for (size_t i = from; i < to; i++)
		l->left[l->way[i]] -= least;
	return least;
}

/* A way of edges with something left, from START back to it. 0: there is none (any more). */
static uint64_t find_loop(struct line *l, uint32_t start, uint32_t at, size_t n)
{
	l->on[at] = 1;
	for (size_t i = 0; i < l->g->n_edges; i++) {
		const struct lz_edge *e = &l->g->edges[i];
		uint64_t taken = 0;

		if (e->src != at || !l->left[i])
			continue;
		l->way[n] = (uint32_t)i;
		if (e->dst == start)
			taken = take(l, 0, n + 1);
		else if (!l->on[e->dst])
			taken = find_loop(l, start, e->dst, n + 1);
		if (taken)
			return taken;
	}
	return 0;
}

static uint64_t rounds(struct line *l)
{
	uint64_t all = 0, taken;
	bool any = false;

	for (size_t i = 0; i < l->g->n_edges; i++) {
		const struct lz_edge *e = &l->g->edges[i];

		l->left[i] = has(l, e->src) && has(l, e->dst) ? l->c->edge[i] : 0;
		any |= l->left[i];
	}
	for (size_t k = 0; any && k < l->n && l->n <= MOST_BLOCKS; k++)
		do {
			memset(l->on, 0, l->g->n_nodes);
			taken = find_loop(l, l->v[k].node, l->v[k].node, 0);
			all += taken;
		} while (taken);
	return all;
}

/* ---- all ---- */

static int add(struct lz_line_counts *l, const char *file, uint32_t line, uint64_t n)
{
	if (lz_reserve(l->v, l->room, l->n + 1) < 0)
		return -1;
	l->v[l->n++] = (struct lz_line_count){file, line, n};
	return 0;
}

static int add_lines(struct line *l, const struct pieces *p, struct lz_line_counts *out)
{
	for (size_t i = 0, end; i < p->n; i = end) {
		for (end = i + 1; end < p->n && p->v[end].line == p->v[i].line &&
		                  !strcmp(p->v[end].file, p->v[i].file);)
			end++;
		l->v = &p->v[i];
		l->n = end - i;
		uint64_t n = l->c->node ? come_from_elsewhere(l) + rounds(l) : 0;
		if (add(out, p->v[i].file, p->v[i].line, n) < 0)
			return -1;
	}
	return 0;
}

static int add_function(const struct lz_cfg *cfg, const struct lz_fn *fn,
                        const struct lz_fn_counts *c, struct pieces *p, struct lz_line_counts *out)
{
	const struct lz_graph *g = &fn->f->graph;
	struct line l = {.g = g, .c = c};
	int rc = collect(cfg, fn->f, p);

	l.left = calloc(g->n_edges + 1, sizeof(*l.left));
	l.way = calloc((size_t)g->n_nodes + 1, sizeof(*l.way));
	l.on = calloc((size_t)g->n_nodes + 1, 1);
	if (!l.left || !l.way || !l.on)
		rc = lz_fail("out of memory for the lines of %s", fn->f->name);
	if (rc == 0)
		rc = add_lines(&l, p, out);
	free(l.left);
	free(l.way);
	free(l.on);
	return rc;
}

static int by_file(const void *a, const void *b)
{
	const struct lz_line_count *x = a, *y = b;
	const int files = strcmp(x->file, y->file);

	return files ? files : x->line < y->line ? -1 : x->line > y->line;
}

static void add_up(struct lz_line_counts *l)
{
	size_t n = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_file);
	for (size_t i = 0; i < l->n; i++) {
		if (n && l->v[n - 1].line == l->v[i].line &&
		    !strcmp(l->v[n - 1].file, l->v[i].file))
			l->v[n - 1].n += l->v[i].n;
		else
			l->v[n++] = l->v[i];
	}
	l->n = n;
}

int lz_counts_lines(const struct lz_asked *a, const struct lz_counts *c, struct lz_line_counts *l)
{
	struct pieces p = {0};
	int rc = 0;

	*l = (struct lz_line_counts){0};
	for (size_t i = 0; !rc && i < c->n; i++) {
		const struct lz_fn *fn = lz_stream_fn(a->stream, (uint32_t)i);

		rc = add_function(lz_module_cfg(a->modules, fn->mod), fn, &c->fn[i], &p, l);
	}
	free(p.v);
	add_up(l);
	return rc;
}

void lz_line_counts_free(struct lz_line_counts *l)
{
	free(l->v);
	*l = (struct lz_line_counts){0};
}
