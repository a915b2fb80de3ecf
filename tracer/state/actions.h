/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tracer's own processes do at signals, as the kernel has it: the C library hides two of them,
 * which everybody may send. */
#ifndef LIZARD_TRACER_ACTIONS_H
#define LIZARD_TRACER_ACTIONS_H

#include <stdint.h>

struct lz_action {
	uint64_t handler, flags, restorer, mask;
};

enum { LZ_SIGNAL_HIDDEN = 32, LZ_SIGNAL_HIDDEN_END = 34 };

/* NOW and WAS may be NULL. */
void lz_action(int signo, const struct lz_action *now, struct lz_action *was);
/* Nothing comes of a signal that the tracer can do without. It is not even kept in mind, unless it is blocked. */
void lz_ignore(int signo);
/* Bit N - 1 is signal N. */
void lz_block(uint64_t signals);

static inline uint64_t lz_signal_bit(int signo)
{
	return 1ULL << (signo - 1);
}

#endif
