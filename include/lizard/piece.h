/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of one frame's code, which a debugger that steps goes through without a stop. */
#ifndef LIZARD_PIECE_H
#define LIZARD_PIECE_H

#include <stdbool.h>
#include <stdint.h>

/* [start, end), which begins with an instruction. */
struct lz_part {
	uint64_t start, end;
};

enum { LZ_RANGES_MAX = 64, LZ_PARTS_MAX = 16 };

struct lz_piece_of_code {
	struct lz_part range[LZ_RANGES_MAX]; /* in any order; not overlapping */
	uint32_t n_ranges;
	/* control at a range's first byte is outside: there GDB hides an inlined call */
	bool hidden_starts;
	bool lines; /* of whole lines of a source: worth it however short */
	/* for forwards, of one range: */
	bool without_calls; /* refused if it has any; else what it calls is run over */
	struct lz_part part[LZ_PARTS_MAX]; /* refused if control can jump into the middle of one */
	uint32_t n_parts;
};

/* Is control at IP inside? */
static inline bool lz_piece_has(const struct lz_piece_of_code *p, uint64_t ip)
{
	for (uint32_t i = 0; i < p->n_ranges; i++)
		if (ip >= p->range[i].start + p->hidden_starts && ip < p->range[i].end)
			return true;
	return false;
}

#endif
