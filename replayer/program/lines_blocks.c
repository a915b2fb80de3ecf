/* SPDX-License-Identifier: GPL-3.0-or-later */
/* To which block each address belongs, as GDB has it (its addrmap): to the first of those that claim it.
 * Older GDBs take them as they are finished, inner before outer. That matters where the debug
 * information is odd and blocks of two functions claim one address, and where an empty part of an
 * inlined call is widened. */
#include <stdlib.h>
#include <common/base/cleanup.h>
#include "replayer/program/lines_inside.h"

struct claim {
	uint64_t start, end;
	uint32_t order, block;
};

/* Claims that hold at one address; the earliest on top. */
struct heap {
	struct claim *v;
	size_t n;
};

static void swap(struct claim *a, struct claim *b)
{
	struct claim c = *a;

	*a = *b;
	*b = c;
}

static void heap_push(struct heap *h, const struct claim *claim)
{
	size_t i = h->n++;

	h->v[i] = *claim;
	for (; i && h->v[i].order < h->v[(i - 1) / 2].order; i = (i - 1) / 2)
		swap(&h->v[i], &h->v[(i - 1) / 2]);
}

static void heap_pop(struct heap *h)
{
	h->v[0] = h->v[--h->n];
	for (size_t i = 0, least;; i = least) {
		least = i;
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < h->n; k++)
			if (h->v[k].order < h->v[least].order)
				least = k;
		if (least == i)
			return;
		swap(&h->v[i], &h->v[least]);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int outer_first(const void *a, const void *b)
{
	const struct line_inline *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_scope(struct line_unit *u, const struct line_blocks *b, uint32_t block,
                     uint64_t start, uint64_t end)
{
	struct line_scope *last = u->n_scopes ? &u->scopes[u->n_scopes - 1] : NULL;

	if (block != LINES_NO_BLOCK && !b->v[block].scope)
		block = lines_outer_block(b, block);
	if (last && last->end == start && last->block == block) {
		last->end = end;
		return 0;
	}
	last = LINES_PUSH(u->scopes, u->n_scopes, u->cap_scopes);
	if (!last)
		return -1;
	*last = (struct line_scope){start, end, block};
	return 0;
}

static int add_body(struct line_unit *u, uint64_t entry, uint64_t start, uint64_t end)
{
	struct line_body *last = u->n_bodies ? &u->bodies[u->n_bodies - 1] : NULL;

	if (last && last->end == start && last->entry == entry) {
		last->end = end;
		return 0;
	}
	last = LINES_PUSH(u->bodies, u->n_bodies, u->cap_bodies);
	if (!last)
		return -1;
	*last = (struct line_body){start, end, entry};
	return 0;
}

/* From START to END control is in BLOCK and the inlined calls around it. Pieces of one call that
 * touch are one: GDB looks whether the byte before is in the call, too. */
static int add_pieces(struct line_unit *u, struct line_blocks *b, uint32_t block, uint64_t start,
                      uint64_t end)
{
	for (; block != LINES_NO_BLOCK && !b->v[block].function; block = b->v[block].around) {
		struct line_block *of = &b->v[block];
		struct line_inline *in = of->piece ? &u->inlines[of->piece - 1] : NULL;

		if (!of->inlined)
			continue;
		if (in && in->end == start) {
			in->end = end;
			continue;
		}
		in = LINES_PUSH(u->inlines, u->n_inlines, u->cap_inlines);
		if (!in)
			return -1;
		*in = of->call;
		in->block = block;
		in->start = start;
		in->end = end;
		of->piece = u->n_inlines;
	}
	return block == LINES_NO_BLOCK ? 0 : add_body(u, b->v[block].call.entry, start, end);
}

/* ---- claims ---- */

struct rank {
	uint64_t low;
	uint32_t block;
};

/* The last one of those that begin at one address is an inner one. */
static int last_first(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->low != y->low)
		return x->low > y->low ? -1 : 1;
	return x->block > y->block ? -1 : x->block < y->block;
}

/* In which order each of the blocks claims. NULL: out of memory. */
static uint32_t *order_blocks(const struct line_blocks *b)
{
	uint32_t *order = calloc(b->n + 1, sizeof(*order));
	lz_auto_free struct rank *ranks = calloc(b->n + 1, sizeof(*ranks));

	if (!order || !ranks) {
		free(order);
		return NULL;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		ranks[i] = (struct rank){b->v[i].low, i};
		order[i] = b->v[i].finished;
	}
	if (!lz_gdb_sorts_blocks())
		return order;
	qsort(ranks, b->n, sizeof(*ranks), last_first);
	for (uint32_t i = 0; i < b->n; i++)
		order[ranks[i].block] = i;
	return order;
}

/* A block of one part is what lies between its ends, as the block around has made them. */
static size_t parts_of(const struct line_blocks *b, const struct line_block *block,
                       const struct lz_part **parts, struct lz_part *whole)
{
	*whole = (struct lz_part){block->low, block->high};
	*parts = lz_gdb_sorts_blocks() && block->n == 1 ? whole : &b->parts[block->first];
	return block->scope ? block->n : 0;
}

/* Sorted. NULL: out of memory. */
static struct claim *make_claims(const struct line_blocks *b, size_t *n)
{
	lz_auto_free uint32_t *order = order_blocks(b);
	struct claim *claims = calloc(b->n_parts + 1, sizeof(*claims));

	*n = 0;
	if (!order || !claims) {
		free(claims);
		return NULL;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		const struct lz_part *part;
		struct lz_part whole;
		const size_t n_parts = parts_of(b, &b->v[i], &part, &whole);

		for (size_t k = 0; k < n_parts; k++)
			if (part[k].start < part[k].end)
				claims[(*n)++] =
				    (struct claim){part[k].start, part[k].end, order[i], i};
	}
	if (*n)
		qsort(claims, *n, sizeof(*claims), by_start);
	return claims;
}

int lines_place_blocks(struct line_unit *u, struct line_blocks *b)
{
	size_t n;
	lz_auto_free struct claim *claims = make_claims(b, &n);
	lz_auto_free struct claim *held = calloc(n + 1, sizeof(*held));
	struct heap h = {.v = held};
	uint64_t at = 0;

	if (!claims || !held)
		return lz_fail("out of memory for line tables");
	for (size_t i = 0; i < n || h.n;) {
		uint64_t until;

		if (!h.n)
			at = claims[i].start;
		while (i < n && claims[i].start <= at)
			heap_push(&h, &claims[i++]);
		while (h.n && h.v[0].end <= at)
			heap_pop(&h);
		if (!h.n)
			continue;
		until = h.v[0].end;
		if (i < n && claims[i].start < until)
			until = claims[i].start;
		if (add_pieces(u, b, h.v[0].block, at, until) ||
		    add_scope(u, b, h.v[0].block, at, until))
			return -1;
		at = until;
	}
	if (u->n_inlines)
		qsort(u->inlines, u->n_inlines, sizeof(*u->inlines), outer_first);
	return 0;
}

/* ---- blocks ---- */

uint32_t lines_outer_block(const struct line_blocks *b, uint32_t block)
{
	do
		block = b->v[block].around;
	while (block != LINES_NO_BLOCK && !b->v[block].scope);
	return block;
}

uint32_t lines_add_block(struct line_blocks *b, const struct line_block *block,
                         const struct lz_part *part, size_t n)
{
	struct line_block *slot = LINES_PUSH(b->v, b->n, b->cap);

	if (!slot)
		return LINES_NO_BLOCK;
	*slot = *block;
	slot->first = b->n_parts;
	slot->n = n;
	slot->low = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		struct lz_part *copy = LINES_PUSH(b->parts, b->n_parts, b->cap_parts);

		if (!copy)
			return LINES_NO_BLOCK;
		*copy = part[i];
		slot->low = part[i].start < slot->low ? part[i].start : slot->low;
		slot->high = part[i].end > slot->high ? part[i].end : slot->high;
	}
	return b->n - 1;
}

/* A scope that is not a function's lies within the block around. */
static void fit_scope(struct line_blocks *b, uint32_t number)
{
	struct line_block *block = &b->v[number];
	const uint32_t outer = lines_outer_block(b, number);

	if (block->function || block->inlined || outer == LINES_NO_BLOCK)
		return;
	if (block->low < b->v[outer].low)
		block->low = b->v[outer].low;
	if (block->high > b->v[outer].high)
		block->high = b->v[outer].high;
}

int lines_finish_block(struct line_blocks *b, uint32_t number)
{
	struct line_block *block = &b->v[number];

	block->finished = b->n_finished++;
	fit_scope(b, number);
	for (size_t i = 0; block->inlined && i < block->n; i++) {
		struct line_end *end = LINES_PUSH(b->ends, b->n_ends, b->cap_ends);

		if (!end)
			return -1;
		*end = (struct line_end){.end = b->parts[block->first + i].end - block->widened,
		                         .order = b->n_ends,
		                         .block = number};
	}
	return 0;
}

void lines_free_blocks(struct line_blocks *b)
{
	free(b->v);
	free(b->parts);
	free(b->ends);
}
