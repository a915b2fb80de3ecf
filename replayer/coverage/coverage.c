/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/coverage/coverage.h"

#include "replayer/coverage/source_counts.h"
#include <common/base/array.h>
#include <lizard/cfg_format.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

/* The number of a file by its name. */
static int file_of(struct lz_coverage *c, const char *name, uint32_t *number)
{
	if (lz_number_of(&c->files, name, 0, number) < 0)
		return -1;
	if (*number < c->n_files)
		return 0;
	if (lz_extend(c->file, c->n_files) < 0)
		return -1;
	if (!(c->file[c->n_files] = strdup(name)))
		return lz_fail("out of memory");
	c->n_files++;
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

static int add_lines(struct lz_coverage *c, const struct lz_cfg *cfg, const struct lz_cfg_func *f,
                     const struct lz_source_counts *s)
{
	struct lz_line_counts l;
	int rc = lz_source_lines(cfg, f, s, &l);

	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		struct lz_covered_line one = {.line = l.v[i].line, .n = l.v[i].n};

		rc = file_of(c, l.v[i].file, &one.file);
		if (rc == 0)
			rc = lz_reserve(c->line, c->lines_room, c->n_lines + 1);
		if (rc == 0)
			c->line[c->n_lines++] = one;
	}
	lz_line_counts_free(&l);
	return rc;
}

/* ---- functions ---- */

/* Its number. */
static int add_fn(struct lz_coverage *c, const struct lz_cfg_func *f, uint64_t calls, uint32_t *fn)
{
	uint32_t file;

	if (file_of(c, f->file ? f->file : "?", &file) < 0 ||
	    lz_number_of(&c->fns, f->name, (uint64_t)file << 32 | f->line, fn) < 0)
		return -1;
	if (*fn < c->n_fns) {
		c->fn[*fn].calls += calls;
		return 0;
	}
	if (lz_reserve(c->fn, c->fns_room, c->n_fns + 1) < 0)
		return -1;
	c->fn[c->n_fns] = (struct lz_covered_fn){file, f->line, strdup(f->name), calls};
	return c->fn[c->n_fns++].name ? 0 : lz_fail("out of memory");
}

/* ---- branches ---- */

int lz_source_place_order(const struct lz_source_place *a, const struct lz_source_place *b)
{
	const uint32_t p[] = {a->file, a->line, a->fn, a->block, a->way};
	const uint32_t q[] = {b->file, b->line, b->fn, b->block, b->way};

	for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

static int by_branch(const void *a, const void *b)
{
	const struct lz_covered_branch *x = a, *y = b;

	return lz_source_place_order(&x->at, &y->at);
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

/* Ways that the program chooses: an exception or a call that never returned is none. */
static bool is_way(const struct lz_counted_arc *a)
{
	return !(a->flags & (LZ_ARC_FAKE | LZ_ARC_THROW));
}

static uint32_t ways_out(const struct lz_source_counts *s, const struct lz_counted_block *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < b->n_out; i++)
		n += is_way(&s->arc[b->first_out + i]);
	return n;
}

enum { MOST_EMPTY = 64 }; /* blocks without a line, one behind the other */

/* The line at which control goes on that comes to BLOCK; 0: none. */
static uint32_t line_at(const struct lz_cfg_func *f, const struct lz_source_counts *s,
                        uint32_t block)
{
	for (int i = 0; i < MOST_EMPTY; i++) {
		const struct lz_counted_block *b = &s->block[block];

		if (b->n_lines)
			return f->lines[b->first_line].line;
		if (b->n_out != 1)
			return 0;
		block = s->arc[b->first_out].dst;
	}
	return 0;
}

static int add_branch(struct lz_coverage *c, const struct lz_covered_branch *one)
{
	if (lz_reserve(c->branch, c->branches_room, c->n_branches + 1) < 0)
		return -1;
	c->branch[c->n_branches++] = *one;
	return 0;
}

static int add_ways(struct lz_coverage *c, const struct lz_cfg_func *f,
                    const struct lz_source_counts *s, struct lz_covered_branch *one)
{
	const struct lz_counted_block *b = &s->block[one->at.block];
	int rc = 0;

	one->at.way = 0;
	one->reached = b->n > 0;
	for (size_t i = 0; !rc && i < b->n_out; i++) {
		const struct lz_counted_arc *a = &s->arc[b->first_out + i];

		if (!is_way(a))
			continue;
		one->taken = a->n;
		one->to = line_at(f, s, a->dst);
		rc = add_branch(c, one);
		one->at.way++;
	}
	return rc;
}

/* The ways out of a block belong to each line that it ends in. */
static int add_block(struct lz_coverage *c, const struct lz_cfg *cfg, const struct lz_cfg_func *f,
                     const struct lz_source_counts *s, struct lz_covered_branch *one)
{
	const struct lz_counted_block *b = &s->block[one->at.block];
	int rc = 0;

	for (uint32_t i = b->first_line; !rc && i < b->first_line + b->n_lines;) {
		const uint32_t end = lz_source_end(f, s, one->at.block, i, &i);
		if (end == LZ_NO_END)
			continue;
		const char *file = lz_cfg_file_name(cfg, f->lines[end].file);
		one->at.line = f->lines[end].line;
		if (file && (rc = file_of(c, file, &one->at.file)) == 0)
			rc = add_ways(c, f, s, one);
	}
	return rc;
}

static int add_branches(struct lz_coverage *c, const struct lz_cfg *cfg,
                        const struct lz_cfg_func *f, const struct lz_source_counts *s, uint32_t fn)
{
	struct lz_covered_branch one = {.at.fn = fn};
	int rc = 0;

	for (uint32_t v = 0; !rc && v < s->n_blocks; v++) {
		one.at.block = v;
		if (ways_out(s, &s->block[v]) > 1)
			rc = add_block(c, cfg, f, s, &one);
	}
	return rc;
}

/* ---- all ---- */

static int add_function(struct lz_coverage *c, const struct lz_cfg *cfg,
                        const struct lz_cfg_func *f, const struct lz_fn_counts *counts)
{
	struct lz_source_counts s;
	uint32_t fn;

	if (lz_source_counts_make(f, counts, &s) < 0)
		return -1;
	int rc = add_lines(c, cfg, f, &s);
	if (rc == 0)
		rc = add_fn(c, f, counts->calls, &fn);
	if (rc == 0)
		rc = add_branches(c, cfg, f, &s, fn);
	lz_source_counts_free(&s);
	return rc;
}

int lz_coverage_add(struct lz_coverage *c, struct lz_asked *a)
{
	struct lz_counts counts;
	int rc = 0;

	if (lz_counts_make(a, &counts) < 0)
		return -1;
	for (size_t i = 0; !rc && i < counts.n; i++) {
		const struct lz_fn *f = lz_stream_fn(a->stream, (uint32_t)i);

		rc = add_function(c, lz_module_cfg(a->modules, f->mod), f->f, &counts.fn[i]);
	}
	lz_counts_free(&counts);
	add_lines_up(c);
	add_branches_up(c);
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
	lz_numbers_free(&c->files);
	lz_numbers_free(&c->fns);
	*c = (struct lz_coverage){0};
}
