/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Anchors for prev: own markers of one activation. These functions return -1 on failure. */
#ifndef LIZARD_REPLAYER_SEARCH_OWN_H
#define LIZARD_REPLAYER_SEARCH_OWN_H

#include "replayer/navigate/own_markers.h"
#include "replayer/navigate/stop_chain.h"

struct lz_own_found {
	bool left;    /* the activation has been left for the goal's code: its own stops will do */
	bool foreign; /* the goal is not in this activation */
	bool deeper;  /* there is an answer, but it lies in an inlined call */
	bool passed;  /* by the walk that gave the answer, which does not stop at the goal */
};

/* The activations that the goal may be in: the running one, or one that has written its exit marker
 * but not returned. Returns how many. */
size_t lz_own_activations(struct lz_nav *nav, struct lz_candidate t[2]);
/* The activation that has just been left, if any: 1 or 0. */
size_t lz_own_left(struct lz_nav *nav, struct lz_candidate *t);

/* A walk of `next` from stream offset ANCHOR. 1: *answer is the stop before the goal. */
int lz_own_try(struct lz_nav *nav, uint64_t anchor, struct lz_chain *c, struct lz_pos *answer,
               struct lz_own_found *f);
/* The same from own markers of the activation, further and further back; LEFT: it is not the
 * goal's. *passed: the walk does not stop at the goal. 1: found. */
int lz_own_search(struct lz_nav *nav, const struct lz_candidate *k, bool left, struct lz_chain *c,
                  struct lz_pos *answer, bool *passed);

#endif
