/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Breakpoints where the C library makes a longjmp, for a step of GDB's: it stops where the longjmp
 * leads, unless that is in a call made by the frame in which the step began. */
#ifndef LIZARD_REPLAYER_LONG_JUMPS_H
#define LIZARD_REPLAYER_LONG_JUMPS_H

#include "replayer/navigate/nav.h"
#include "replayer/program/probes.h"

struct lz_long_jumps {
	struct lz_long_jump at[LZ_LONG_JUMPS_MAX]; /* run-time addresses */
	size_t n, armed;
};

/* What is mapped now; none outside of a step. */
void lz_long_jumps_find(struct lz_nav *nav, struct lz_long_jumps *j);
/* -1: not all are set; disarm it in any case. */
int lz_long_jumps_arm(struct lz_nav *nav, struct lz_long_jumps *j);
void lz_long_jumps_disarm(struct lz_nav *nav, struct lz_long_jumps *j);
/* Is one of them in this range? */
bool lz_long_jumps_within(const struct lz_long_jumps *j, uint64_t start, uint64_t end);
/* Is control at one of them? To which address will it lead? */
bool lz_long_jumps_here(struct lz_nav *nav, const struct lz_long_jumps *j, uint64_t *to);

#endif
