/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the counts of blocks to those of lines, as gcov has it. A line counts with the blocks that end
 * in it: as often as control came into them from elsewhere, and once more for each round that a loop
 * made within the line. If none does, all blocks that have something of it are added up. */
#include "replayer/coverage/source_counts.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* Of a line, between blocks that end in it; a loop in one with more is not looked for. */
enum { MOST_ARCS = 512 };

/* One block of one function that has something of a line. */
struct piece {
	const char *file;
	uint32_t line, block;
	bool ends; /* the block ends in the line */
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
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->ends - y->ends;
}

static int add_piece(struct pieces *p, const char *file, uint32_t line, uint32_t block, bool ends)
{
	if (!file || !line)
		return 0;
	if (lz_reserve(p->v, p->room, p->n + 1) < 0)
		return -1;
	p->v[p->n++] = (struct piece){file, line, block, ends};
	return 0;
}

static int collect_block(const struct lz_cfg *cfg, const struct lz_cfg_func *f,
                         const struct lz_source_counts *s, uint32_t number, struct pieces *p)
{
	const struct lz_counted_block *b = &s->block[number];
	uint32_t next = b->first_line, end = next;
	int rc = 0;

	for (uint32_t i = next; !rc && i < b->first_line + b->n_lines; i++) {
		const struct lz_cfg_line *l = &f->lines[i];

		if (i == next)
			end = lz_source_end(f, s, number, i, &next);
		rc = add_piece(p, lz_cfg_file_name(cfg, l->file), l->line, number, i == end);
	}
	return rc;
}

/* Where the function begins is a line of its first block, too. */
static int collect(const struct lz_cfg *cfg, const struct lz_cfg_func *f,
                   const struct lz_source_counts *s, struct pieces *p)
{
	int rc = 0;

	p->n = 0;
	if (!f->source && s->n_blocks)
		rc = add_piece(p, f->file, f->line, s->first, !s->block[s->first].n_lines);
	for (uint32_t v = 0; !rc && v < s->n_blocks; v++)
		rc = collect_block(cfg, f, s, v, p);
	if (!rc && p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_line);
	return rc;
}

/* ---- one line of a function ---- */

struct line {
	const struct lz_source_counts *s;
	uint32_t *block; /* those that end in it */
	size_t n;
	uint8_t *in;    /* [n_blocks]: does it end in the line? */
	uint64_t *left; /* [n_arcs]: of the arcs within it, what no loop has taken yet */
	size_t way[MOST_ARCS];
	uint8_t *on; /* [n_blocks]: was it met already? */
};

static uint64_t come_from_elsewhere(const struct line *l)
{
	uint64_t n = 0;

	for (size_t k = 0; k < l->n; k++) {
		const struct lz_counted_block *b = &l->s->block[l->block[k]];

		for (size_t i = 0; i < b->n_in; i++) {
			const struct lz_counted_arc *a = &l->s->arc[l->s->into[b->first_in + i]];

			n += l->in[a->src] ? 0 : a->n;
		}
	}
	return n;
}

/* The loop that the arcs l->way[0..n) make takes what all of them have. */
static uint64_t take(struct line *l, size_t n)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (l->left[l->way[i]] < least)
			least = l->left[l->way[i]];
	for (size_t i = 0; i < n; i++)
		l->left[l->way[i]] -= least;
	return least;
}

/* A way of arcs with something left, from START back to it. 0: there is none (any more). */
static uint64_t find_loop(struct line *l, uint32_t start, uint32_t at, size_t n)
{
	const struct lz_counted_block *b = &l->s->block[at];

	l->on[at] = 1;
	for (size_t i = b->first_out; i < b->first_out + b->n_out; i++) {
		const uint32_t dst = l->s->arc[i].dst;
		uint64_t taken = 0;

		if (!l->in[dst] || !l->left[i])
			continue;
		l->way[n] = i;
		if (dst == start)
			taken = take(l, n + 1);
		else if (!l->on[dst])
			taken = find_loop(l, start, dst, n + 1);
		if (taken)
			return taken;
	}
	return 0;
}

/* How many arcs there are within the line. */
static size_t begin_rounds(struct line *l)
{
	size_t n = 0;

	for (size_t k = 0; k < l->n; k++) {
		const struct lz_counted_block *b = &l->s->block[l->block[k]];

		for (size_t i = b->first_out; i < b->first_out + b->n_out; i++) {
			l->left[i] = l->s->arc[i].n;
			n += l->in[l->s->arc[i].dst];
		}
	}
	return n;
}

static uint64_t rounds(struct line *l)
{
	const size_t n_arcs = begin_rounds(l);
	uint64_t all = 0, taken;

	for (size_t k = 0; k < l->n && n_arcs && n_arcs < MOST_ARCS; k++)
		do {
			for (size_t i = 0; i < l->n; i++)
				l->on[l->block[i]] = 0;
			taken = find_loop(l, l->block[k], l->block[k], 0);
			all += taken;
		} while (taken);
	return all;
}

static uint64_t count_line(struct line *l, const struct piece *v, size_t n)
{
	uint64_t sum = 0;

	l->n = 0;
	for (size_t i = 0; i < n; i++) {
		/* a line has a block once: as its end, if it is that */
		if (i + 1 < n && v[i + 1].block == v[i].block)
			continue;
		sum += l->s->block[v[i].block].n;
		l->in[v[i].block] = v[i].ends;
		if (v[i].ends)
			l->block[l->n++] = v[i].block;
	}
	if (l->n)
		sum = come_from_elsewhere(l) + rounds(l);
	for (size_t i = 0; i < l->n; i++)
		l->in[l->block[i]] = 0;
	return sum;
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
	int rc = 0;

	for (size_t i = 0, end; !rc && i < p->n; i = end) {
		for (end = i + 1; end < p->n && p->v[end].line == p->v[i].line &&
		                  !strcmp(p->v[end].file, p->v[i].file);)
			end++;
		rc = add(out, p->v[i].file, p->v[i].line, count_line(l, &p->v[i], end - i));
	}
	return rc;
}

static int open_line(struct line *l, const struct lz_source_counts *s)
{
	*l = (struct line){.s = s};
	l->block = calloc((size_t)s->n_blocks + 1, sizeof(*l->block));
	l->in = calloc((size_t)s->n_blocks + 1, 1);
	l->on = calloc((size_t)s->n_blocks + 1, 1);
	l->left = calloc(s->n_arcs + 1, sizeof(*l->left));
	return l->block && l->in && l->on && l->left ? 0 : lz_fail("out of memory for lines");
}

static void close_line(struct line *l)
{
	free(l->block);
	free(l->in);
	free(l->on);
	free(l->left);
}

int lz_source_lines(const struct lz_cfg *cfg, const struct lz_cfg_func *f,
                    const struct lz_source_counts *s, struct lz_line_counts *out)
{
	struct pieces p = {0};
	struct line l;
	int rc = open_line(&l, s);

	*out = (struct lz_line_counts){0};
	if (rc == 0)
		rc = collect(cfg, f, s, &p);
	if (rc == 0)
		rc = add_lines(&l, &p, out);
	close_line(&l);
	free(p.v);
	return rc;
}

void lz_line_counts_free(struct lz_line_counts *l)
{
	free(l->v);
	*l = (struct lz_line_counts){0};
}
