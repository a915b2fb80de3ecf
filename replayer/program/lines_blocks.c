/* SPDX-License-Identifier: GPL-3.0-or-later */
/* To which block each address belongs, as GDB has it (its addrmap): blocks are finished inner before
 * outer, and an address belongs to the first finished one that claims it. That matters where the
 * debug information is odd and blocks of two functions claim one address. */
#include <stdlib.h>
#include "replayer/program/lines_inside.h"

/* Claims that hold at one address; the earliest on top. */
struct heap {
	struct line_claim *v;
	size_t n;
};

static void swap(struct line_claim *a, struct line_claim *b)
{
	struct line_claim c = *a;

	*a = *b;
	*b = c;
}

static void heap_push(struct heap *h, const struct line_claim *claim)
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
	const struct line_claim *x = a, *y = b;

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

	while (block != LINES_NO_BLOCK && !b->v[block].scope)
		block = b->v[block].around;
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

int lines_place_blocks(struct line_unit *u, struct line_blocks *b)
{
	struct heap h = {.v = malloc((b->n_claims + 1) * sizeof(*h.v))};
	uint64_t at = 0;
	int rc = 0;

	if (!h.v)
		return lz_fail("out of memory for line tables");
	if (b->n_claims)
		qsort(b->claims, b->n_claims, sizeof(*b->claims), by_start);
	for (size_t i = 0; !rc && (i < b->n_claims || h.n);) {
		uint64_t until;

		if (!h.n)
			at = b->claims[i].start;
		while (i < b->n_claims && b->claims[i].start <= at)
			heap_push(&h, &b->claims[i++]);
		while (h.n && h.v[0].end <= at)
			heap_pop(&h);
		if (!h.n)
			continue;
		until = h.v[0].end;
		if (i < b->n_claims && b->claims[i].start < until)
			until = b->claims[i].start;
		rc = add_pieces(u, b, h.v[0].block, at, until) ||
		             add_scope(u, b, h.v[0].block, at, until)
		         ? -1
		         : 0;
		at = until;
	}
	free(h.v);
	if (!rc && u->n_inlines)
		qsort(u->inlines, u->n_inlines, sizeof(*u->inlines), outer_first);
	return rc;
}

uint32_t lines_add_block(struct line_blocks *b, const struct line_block *block)
{
	struct line_block *slot = LINES_PUSH(b->v, b->n, b->cap);

	if (!slot)
		return LINES_NO_BLOCK;
	*slot = *block;
	return b->n - 1;
}

int lines_claim(struct line_blocks *b, uint32_t block, uint64_t start, uint64_t end)
{
	struct line_claim *claim = LINES_PUSH(b->claims, b->n_claims, b->cap_claims);

	if (!claim)
		return -1;
	*claim = (struct line_claim){start, end, b->n_claims, block};
	return 0;
}

void lines_free_blocks(struct line_blocks *b)
{
	free(b->v);
	free(b->claims);
}
