/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often each basic block and edge of each function ran.
 *
 * Between two consecutive markers of an activation there is exactly one path through its graph
 * (Ball and Larus 1994, and lizard/graph.h). So the stream is read once and each pair of such
 * markers is counted; the paths are walked once for each pair that occurred. An activation that did
 * not come to its end, as main() in front of exit(), is counted up to where control was. */
#ifndef LIZARD_REPLAYER_COUNTS_H
#define LIZARD_REPLAYER_COUNTS_H

#include "replayer/answers/asked.h"

/* N calls that ended a block of the source graph have not returned. */
struct lz_lost_calls {
	uint32_t block;
	uint64_t n;
};

struct lz_fn_counts {
	uint64_t calls;   /* activations that began */
	uint64_t returns; /* and that came to the exit */
	uint64_t *node;   /* [graph.n_nodes] */
	uint64_t *edge;   /* [graph.n_edges] */
	struct lz_lost_calls *lost;
	size_t n_lost, room_lost;
};

struct lz_counts {
	struct lz_fn_counts *fn; /* by the stream's number; node NULL: it never ran */
	size_t n;
};

int lz_counts_make(struct lz_asked *a, struct lz_counts *c);
void lz_counts_free(struct lz_counts *c);

#endif
