/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether an activation came to one of its instructions between two of its markers, told by the
 * machine code: all ways from the one to the other pass it, or none does.
 *
 * Markers of code that the compiler changed after it was marked may leave both open. */
#ifndef LIZARD_REPLAYER_PASSES_H
#define LIZARD_REPLAYER_PASSES_H

#include "replayer/program/fn_code.h"
#include "replayer/stream/decode.h"

/* As lz_act.last has them, and: */
#define LZ_NEXT_TAIL 0xFFFFFFFBu

enum lz_told {
	LZ_TOLD_NO,
	LZ_TOLD_YES, /* once */
	LZ_TOLD_NOT  /* it is not known */
};

struct lz_passes;

/* The instruction at link-time address PC; CODE must outlive it. NULL: lz_error(). */
struct lz_passes *lz_passes_new(const struct lz_fn_code *code, uint64_t pc);
void lz_passes_free(struct lz_passes *p);

/* Between the beginning and the first marker. */
enum lz_told lz_passes_first(struct lz_passes *p);
/* Between the markers FROM (an id, LZ_SET_ENTER, LZ_LAST_LANDING) and TO (an id, LZ_SET_EXIT,
 * LZ_NEXT_TAIL, LZ_LAST_LANDING); what is behind the last one counts to it. -1: lz_error(). */
int lz_passes_between(struct lz_passes *p, uint32_t from, uint32_t to);
/* Is it on no way from FROM to whatever marker comes next? */
bool lz_passes_never(struct lz_passes *p, uint32_t from);
/* Behind FROM, up to a call that did not return: of the function at link-time address CALLEE, or (0)
 * of code without markers. */
int lz_passes_unwound(struct lz_passes *p, uint32_t from, uint64_t callee);
/* Behind FROM, up to the instruction at PC; AT: to the end of the one in front of it. */
int lz_passes_up_to(struct lz_passes *p, uint32_t from, uint64_t pc, bool behind);

/* Where, between two markers that it was passed between once. Calls cut what lies between them
 * into gaps. */
enum lz_gap { LZ_GAP_FIRST, LZ_GAP_LAST, LZ_GAP_AFTER_LAST, LZ_GAP_BETWEEN, LZ_GAP_UNKNOWN };
struct lz_pass_place {
	enum lz_gap gap;
	/* LZ_GAP_BETWEEN: the functions called, by link-time address, in order; BEFORE of them in
	 * front of it */
	const uint64_t *callee;
	size_t n, before;
};
/* Valid until the next call. */
int lz_passes_where(struct lz_passes *p, uint32_t from, uint32_t to, struct lz_pass_place *w);

#endif
