/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two runs that have parted meet again: at markers with the same functions on the stack, from
 * which on a number of markers are the same.
 *
 * Of the next markers of both, the equal pieces of that length are found by their fingerprints (Karp
 * and Rabin, "Efficient Randomized Pattern-Matching Algorithms", IBM J. Res. Dev. 31(2), 1987); the
 * pair with the fewest markers before it, in both runs together, is taken. If there is none near,
 * the calls are aligned that both runs are in (Xin, Sumner and Zhang, "Efficient Program Execution
 * Indexing", PLDI 2008): they meet where the innermost of them has returned in both, if the markers
 * behind it are the same. */
#ifndef LIZARD_REPLAYER_MEET_H
#define LIZARD_REPLAYER_MEET_H

#include "replayer/compare/tokens.h"

/* At least this many markers are the same from a meeting on, or all up to the end. */
enum { LZ_MEET_MARKERS = 16 };

/* T: from where the runs part. 1: both begin at the meeting, AT: its stream offsets; 0: they do not
 * meet, the windows are empty; -1. */
int lz_meet(struct lz_tokens t[2], size_t markers, uint64_t at[2]);

#endif
