/* The markers that one activation itself has written. */
#ifndef LIZARD_REPLAYER_OWN_H
#define LIZARD_REPLAYER_OWN_H

#include "replayer/nav.h"

struct lz_candidate {
	struct lz_act act;
	bool local; /* known without the index, since it began in the same block */
};

/* Where an activation wrote its own markers: stream offsets behind them. */
struct lz_own {
	const struct lz_act *act;
	uint32_t thread;
	uint64_t *at;
	size_t n, cap;
};

/* Sets O to those of the activation, which is of the goal's thread, that lie in the block, before the goal. O is zeroed or of a call before; free O->at.
 * 1: the activation began in this block. */
int lz_own_in_block(struct lz_nav *nav, uint32_t block, const struct lz_candidate *k,
                    struct lz_own *o);

#endif
