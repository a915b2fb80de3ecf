/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The markers that one activation itself has written. */
#ifndef LIZARD_REPLAYER_OWN_MARKERS_H
#define LIZARD_REPLAYER_OWN_MARKERS_H

#include "replayer/navigate/nav.h"

struct lz_candidate {
	struct lz_act act;
	bool local; /* known without the index, since it began in the same block */
};

struct lz_own_mark {
	uint64_t at; /* the stream offset behind it */
	uint32_t id; /* 0: a LANDING */
};

/* Where an activation wrote its own markers. */
struct lz_own_marks {
	const struct lz_act *act;
	uint32_t thread;
	struct lz_own_mark *mark;
	size_t n, cap;
};

/* Sets O to those of the activation, which is of the goal's thread, that lie in the block,
 * before the goal. O is zeroed or of a call before; free O->mark. 1: the activation began in
 * this block. */
int lz_own_marks_in_block(struct lz_nav *nav, uint32_t block, const struct lz_candidate *k,
                          struct lz_own_marks *o);
/* Leaves in O only the markers whose code is in at most INLINES inlined calls. */
int lz_own_marks_outside(struct lz_nav *nav, struct lz_own_marks *o, uint32_t inlines);

#endif
