/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows: the stretches that a run back looks at, one before the other. */
#ifndef LIZARD_REPLAYER_BACK_WINDOWS_H
#define LIZARD_REPLAYER_BACK_WINDOWS_H

#include "replayer/session/session.h"

/* The earliest gap that a run back looks at. */
struct lz_gap_start lz_back_first(struct lz_session *s);
/* The beginning of the window that ends at END and is as long as MARKERS bytes or EVENTS, whichever
 * is less. -1: failed. */
int lz_back_window(struct lz_session *s, struct lz_gap_start end, uint64_t markers, uint64_t events,
                   struct lz_gap_start *start);
/* END, moved back. With watchpoints only, or where it is known when control was at the breakpoints: whole
 * intervals between checkpoints, before END, in which no watched page was written or mapped, need
 * not be run. What differs at their ends does not tell: a value may have changed and changed back. */
struct lz_gap_start lz_back_skip_clean(struct lz_session *s, struct lz_gap_start end,
                                       bool breaks_known);

#endif
