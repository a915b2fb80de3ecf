/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole intervals between checkpoints, run to look for breakpoints in them. In optimised code the
 * markers of a function tell little of where control was, so to read them can take several times
 * as long as to run. */
#ifndef LIZARD_REPLAYER_BACK_INTERVAL_H
#define LIZARD_REPLAYER_BACK_INTERVAL_H

#include "replayer/session/session.h"

/* Is the last interval before END run in less time than its markers are read for the addresses of
 * WHAT? */
bool lz_back_interval_pays(struct lz_session *s, struct lz_gap_start end,
                           const struct lz_scan_what *what);
/* Runs the last interval before *END. 0: nothing is reached in it, and *END moves to its beginning;
 * 1: *LAST; LZ_SCAN_*, of which LZ_SCAN_MANY is for markers to tell; -1. */
int lz_back_run_interval(struct lz_session *s, const struct lz_scan_what *what,
                         struct lz_gap_start *end, struct lz_hit *last);

#endif
