/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activations that longjmp(), an exception or a switch of stacks has taken off the stack, and those
 * of them that came back, as a coroutine's do: by what they had done last. */
#ifndef LIZARD_REPLAYER_UNWOUND_H
#define LIZARD_REPLAYER_UNWOUND_H

#include "replayer/coverage/lost_calls.h"
#include "replayer/answers/tally.h"

/* Zeroes are an empty one. */
struct lz_unwound {
	struct lz_tally call;       /* a function, and what it had called */
	struct lz_tally gone, back; /* row of CALL << 32 | last marker */
};

/* The activation ACTS[I] of N on a stack is gone, or is BACK. */
int lz_unwound_add(struct lz_unwound *u, bool back, const struct lz_act *acts, size_t i, size_t n);
int lz_unwound_merge(struct lz_unwound *u, const struct lz_unwound *from);
/* Counts what those ran that did not come back. */
int lz_unwound_count(struct lz_unwound *u, struct lz_lost_calls_finder *l);
void lz_unwound_free(struct lz_unwound *u);

#endif
