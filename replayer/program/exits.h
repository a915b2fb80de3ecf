/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where control goes and comes from, found by decoding. Pure. */
#ifndef LIZARD_REPLAYER_EXITS_H
#define LIZARD_REPLAYER_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lizard/piece.h>

enum { LZ_EXITS_MAX = 128 };

struct lz_exit {
	uint64_t pc;
	/* an instruction of the piece that may lead anywhere; else a place outside where it
	 * leads */
	bool inside;
};

/* Where control can leave a piece of code: for running through it at full speed instead of in
 * single steps. CODE[i] holds the bytes of its range i. Calls are no exits: they come back.
 * Returns their number; -1: they are too many, or the bytes are no code. */
int lz_exits_find(const struct lz_piece_of_code *piece, uint8_t *const code[],
                  struct lz_exit exits[LZ_EXITS_MAX]);
/* Does control get into each of the N parts, all in [base, end), at its beginning only: do no
 * jumps between BASE and END, whose bytes CODE holds, lead into the middle of one? Calls come
 * back to where they were made. */
bool lz_enters_at_start(const uint8_t *code, uint64_t base, uint64_t end,
                        const struct lz_part *part, size_t n);
bool lz_has_calls(const uint8_t *code, uint64_t base, uint64_t end);
/* Where control can come from into a piece: instructions outside of it that may lead there. */
struct lz_entries {
	uint64_t pc[LZ_EXITS_MAX];
	int n;
};
/* Adds those to E that are among the instructions from BASE to LIMIT, whose bytes CODE holds.
 * False: they are too many, or the bytes are no code. */
bool lz_entries_add(const uint8_t *code, uint64_t base, uint64_t limit,
                    const struct lz_piece_of_code *piece, struct lz_entries *e);
/* Does the instruction at PC, of which CODE has N bytes, lead to TO whatever the registers are,
 * if it completes? */
bool lz_always_leads(const uint8_t *code, size_t n, uint64_t pc, uint64_t to);

#endif
