/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where inlined calls end. GCC can end one at an address whose statement is still the call's, behind
 * which the caller's line goes on without a statement. GDB 18 then moves the end. */
#include <stdlib.h>
#include "replayer/program/lines_inside.h"

static int by_end(const void *a, const void *b)
{
	const struct line_end *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void lines_sort_ends(struct line_blocks *b)
{
	if (b->n_ends)
		qsort(b->ends, b->n_ends, sizeof(*b->ends), by_end);
}

/* The inlined call around BLOCK that the function itself makes. */
static uint32_t outermost(const struct line_blocks *b, uint32_t block)
{
	while (block != LINES_NO_BLOCK) {
		const uint32_t outer = lines_outer_block(b, block);

		if (b->v[block].inlined && outer != LINES_NO_BLOCK && b->v[outer].function)
			return block;
		block = outer;
	}
	return LINES_NO_BLOCK;
}

void lines_extend_inlined(struct line_blocks *b, uint64_t end, uint64_t next, uint32_t line)
{
	const size_t at = lz_lower_bound(i, b->n_ends, b->ends[i].end < end);
	struct line_block *block;
	uint32_t number;

	if (at == b->n_ends || b->ends[at].end != end)
		return;
	number = outermost(b, b->ends[at].block);
	if (number == LINES_NO_BLOCK)
		return;
	block = &b->v[number];
	if (block->call.call_line != line || next > b->v[lines_outer_block(b, number)].high)
		return;
	for (size_t i = block->first; i < block->first + block->n; i++)
		if (b->parts[i].end == end)
			b->parts[i].end = next;
	if (block->high == end)
		block->high = next;
}
