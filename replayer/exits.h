/* Where control goes and comes from, found by decoding. Pure. */
#ifndef LIZARD_REPLAYER_EXITS_H
#define LIZARD_REPLAYER_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lizard/session.h>

enum { LZ_EXITS_MAX = 48 };

struct lz_exit {
	uint64_t pc;
	bool
	    inside; /* an instruction of the piece that may lead anywhere; else a place outside where it leads */
};

/* Where control can leave a piece of code: for running through it at full speed instead of in single steps.
 * The exits of [start, end), whose instructions begin at BASE <= start; CODE holds the bytes from BASE to end. Calls are no
 * exits: they come back. Returns their number; -1: they are too many, or the bytes are no code. */
int lz_exits_find(const uint8_t *code, uint64_t base, uint64_t start, uint64_t end,
                  struct lz_exit exits[LZ_EXITS_MAX]);
/* Does control get into each of the N parts, all in [base, end), at its beginning only: do no jumps between BASE and END, whose bytes
 * CODE holds, lead into the middle of one? Calls come back to where they were made. */
bool lz_enters_at_start(const uint8_t *code, uint64_t base, uint64_t end,
                        const struct lz_part *part, size_t n);
bool lz_has_calls(const uint8_t *code, uint64_t base, uint64_t end);
/* Where control can come from into a piece: the instructions outside of [start, end) that may lead there, as far as they are among
 * those from BASE to LIMIT, whose bytes CODE holds. Returns their number; -1: they are too many, or the bytes are no code. */
int lz_entries_find(const uint8_t *code, uint64_t base, uint64_t limit, uint64_t start,
                    uint64_t end, uint64_t entries[LZ_EXITS_MAX]);
/* Does the instruction at PC, of which CODE has N bytes, lead to TO whatever the registers are, if it completes? */
bool lz_always_leads(const uint8_t *code, size_t n, uint64_t pc, uint64_t to);

#endif
