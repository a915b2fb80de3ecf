/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the activations of some functions have called since their last markers: where the gaps between
 * two of their markers begin. Of one thread. */
#ifndef LIZARD_REPLAYER_HIT_GAPS_H
#define LIZARD_REPLAYER_HIT_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call: ENTER at FROM's marker, which ends a gap. */
struct lz_gap_call {
	uint64_t from; /* where the gap in front of it begins */
	uint32_t entry;
};

struct lz_gap_frame {
	uint64_t act;
	size_t depth, first; /* of its calls */
	bool many;           /* more than are kept */
};

struct lz_gaps {
	struct lz_gap_frame *frame;
	size_t n_frames, frames_room;
	struct lz_gap_call *call;
	size_t n_calls, calls_room;
};

void lz_gaps_free(struct lz_gaps *g);
/* Activation ACT, the DEPTH-th, calls what begins at ENTRY; the gap began at FROM. */
int lz_gaps_add(struct lz_gaps *g, uint64_t act, size_t depth, uint64_t from, uint32_t entry);
/* The calls of ACT since its last marker; NULL: there were none. *MANY: they are not all kept. */
const struct lz_gap_call *lz_gaps_of(struct lz_gaps *g, uint64_t act, size_t depth, size_t *n,
                                     bool *many);
/* It has written a marker, or is gone. */
void lz_gaps_clear(struct lz_gaps *g, size_t depth);

#endif
