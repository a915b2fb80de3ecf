/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk that begins within what `step` goes over makes stops that a walk from outside does not make. */
#ifndef LIZARD_REPLAYER_SKIPPED_ANCHORS_H
#define LIZARD_REPLAYER_SKIPPED_ANCHORS_H

#include "replayer/navigate/nav.h"

/* Is control at stream offset ANCHOR within a function or an inlined call that is skipped, and that the goal is
 * not in? GOAL[N] is the goal's stack. 1: it is, and *EARLIER may be another anchor, or is ANCHOR. -1: lz_error(). */
int lz_anchor_is_skipped(struct lz_nav *nav, uint64_t anchor, const struct lz_act *goal, size_t n,
                         uint64_t *earlier);

#endif
