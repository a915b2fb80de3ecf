/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/coverage.h"

#include "replayer/answers/counts.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

/* The number of a file by its name. */
static int file_of(struct lz_coverage *c, const char *name, uint32_t *number)
{
	for (uint32_t i = c->n_files; i-- > 0;)
		if (!strcmp(c->file[i], name)) {
			*number = i;
			return 0;
		}
	if (lz_extend(c->file, c->n_files) < 0)
		return -1;
	if (!(c->file[c->n_files] = strdup(name)))
		return lz_fail("out of memory");
	*number = c->n_files++;
	return 0;
}

/* ---- lines ---- */

static int by_line(const void *a, const void *b)
{
	const struct lz_covered_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void add_lines_up(struct lz_coverage *c)
{
	size_t n = 0;

	if (c->n_lines)
		qsort(c->line, c->n_lines, sizeof(*c->line), by_line);
	for (size_t i = 0; i < c->n_lines; i++) {
		if (n && !by_line(&c->line[n - 1], &c->line[i]))
			c->line[n - 1].n += c->line[i].n;
		else
			c->line[n++] = c->line[i];
	}
	c->n_lines = n;
}

static int add_lines(struct lz_coverage *c, const struct lz_asked *a,
                     const struct lz_counts *counts)
{
	struct lz_line_counts l;
	int rc = lz_counts_lines(a, counts, &l);

	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		struct lz_covered_line one = {.line = l.v[i].line, .n = l.v[i].n};

		rc = file_of(c, l.v[i].file, &one.file);
		if (rc == 0)
			rc = lz_reserve(c->line, c->lines_room, c->n_lines + 1);
		if (rc == 0)
			c->line[c->n_lines++] = one;
	}
	lz_line_counts_free(&l);
	add_lines_up(c);
	return rc;
}

/* ---- functions ---- */

/* Its number. */
static int add_fn(struct lz_coverage *c, const struct lz_cfg_func *f, uint64_t calls, uint32_t *fn)
{
	uint32_t file;

	if (file_of(c, f->file ? f->file : "?", &file) < 0)
		return -1;
	for (size_t i = 0; i < c->n_fns; i++)
		if (c->fn[i].file == file && c->fn[i].line == f->line &&
		    !strcmp(c->fn[i].name, f->name)) {
			c->fn[i].calls += calls;
			*fn = (uint32_t)i;
			return 0;
		}
	if (lz_reserve(c->fn, c->fns_room, c->n_fns + 1) < 0)
		return -1;
	*fn = (uint32_t)c->n_fns;
	c->fn[c->n_fns] = (struct lz_covered_fn){file, f->line, strdup(f->name), calls};
	return c->fn[c->n_fns++].name ? 0 : lz_fail("out of memory");
}

/* ---- branches ---- */

static int by_branch(const void *a, const void *b)
{
	const struct lz_covered_branch *x = a, *y = b;
	const uint32_t p[] = {x->file, x->line, x->fn, x->block, x->way};
	const uint32_t q[] = {y->file, y->line, y->fn, y->block, y->way};

	for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

static void add_branches_up(struct lz_coverage *c)
{
	size_t n = 0;

	if (c->n_branches)
		qsort(c->branch, c->n_branches, sizeof(*c->branch), by_branch);
	for (size_t i = 0; i < c->n_branches; i++) {
		if (n && !by_branch(&c->branch[n - 1], &c->branch[i])) {
			c->branch[n - 1].taken += c->branch[i].taken;
			c->branch[n - 1].reached |= c->branch[i].reached;
		} else {
			c->branch[n++] = c->branch[i];
		}
	}
	c->n_branches = n;
}

/* Ways that the program chooses: an exception or a second return is none. */
static uint32_t ways_out(const struct lz_graph *g, uint32_t node)
{
	uint32_t n = 0;

	for (size_t i = 0; i < g->n_edges; i++)
		n += g->edges[i].src == node && !g->edges[i].unmarkable;
	return n;
}

static int add_branch(struct lz_coverage *c, const struct lz_covered_branch *one)
{
	if (lz_reserve(c->branch, c->branches_room, c->n_branches + 1) < 0)
		return -1;
	c->branch[c->n_branches++] = *one;
	return 0;
}

static int add_block(struct lz_coverage *c, const struct lz_cfg_func *f,
                     const struct lz_fn_counts *counts, struct lz_covered_branch *one)
{
	const struct lz_graph *g = &f->graph;
	int rc = 0;

	one->way = 0;
	one->reached = counts->node && counts->node[one->block];
	for (size_t i = 0; !rc && i < g->n_edges; i++) {
		if (g->edges[i].src != one->block || g->edges[i].unmarkable)
			continue;
		one->taken = counts->edge ? counts->edge[i] : 0;
		rc = add_branch(c, one);
		one->way++;
	}
	return rc;
}

static int add_branches(struct lz_coverage *c, const struct lz_cfg *cfg,
                        const struct lz_cfg_func *f, const struct lz_fn_counts *counts, uint32_t fn)
{
	struct lz_covered_branch one = {.fn = fn};
	int rc = 0;

	for (uint32_t v = 0; !rc && v < f->graph.n_nodes; v++) {
		const struct lz_cfg_block *b = &f->blocks[v];
		const struct lz_cfg_line *last;
		const char *file;

		if (!b->n_lines || ways_out(&f->graph, v) < 2)
			continue;
		last = &f->lines[b->first_line + b->n_lines - 1];
		if (!(file = lz_cfg_file_name(cfg, last->file)))
			continue;
		one.block = v;
		one.line = last->line;
		rc = file_of(c, file, &one.file);
		if (rc == 0)
			rc = add_block(c, f, counts, &one);
	}
	return rc;
}

/* ---- all ---- */

static int add_functions(struct lz_coverage *c, const struct lz_asked *a,
                         const struct lz_counts *counts)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < counts->n; i++) {
		const struct lz_fn *f = lz_stream_fn(a->stream, (uint32_t)i);
		uint32_t fn;

		rc = add_fn(c, f->f, counts->fn[i].calls, &fn);
		if (rc == 0)
			rc = add_branches(c, lz_module_cfg(a->modules, f->mod), f->f,
			                  &counts->fn[i], fn);
	}
	add_branches_up(c);
	return rc;
}

int lz_coverage_add(struct lz_coverage *c, struct lz_asked *a)
{
	struct lz_counts counts;

	if (lz_counts_make(a, &counts) < 0)
		return -1;
	int rc = add_lines(c, a, &counts);
	if (rc == 0)
		rc = add_functions(c, a, &counts);
	lz_counts_free(&counts);
	return rc;
}

void lz_coverage_free(struct lz_coverage *c)
{
	for (uint32_t i = 0; i < c->n_files; i++)
		free(c->file[i]);
	for (size_t i = 0; i < c->n_fns; i++)
		free(c->fn[i].name);
	free(c->file);
	free(c->line);
	free(c->fn);
	free(c->branch);
	*c = (struct lz_coverage){0};
}
