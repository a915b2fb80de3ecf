/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole intervals between checkpoints, run to look for breakpoints in them. In optimised code the
 * markers of a function tell little of where control was, so to read them can take several times
 * as long as to run. An interval begins with the first block of markers behind its checkpoint. */
#ifndef LIZARD_REPLAYER_INTERVAL_H
#define LIZARD_REPLAYER_INTERVAL_H

#include "replayer/session/session.h"

/* Hits in an interval that are looked at one by one; where there are more, markers tell the last. */
enum { LZ_INTERVAL_HITS = 4096 };

/* The first gap of the last interval before END. */
struct lz_gap_start lz_interval_before(struct lz_session *s, struct lz_gap_start end);
/* The first gap of the next interval behind START; UINT64_MAX: there is none. */
struct lz_gap_start lz_interval_after(struct lz_session *s, struct lz_gap_start start);
/* What reading markers has cost: CPU time. */
struct lz_reading {
	uint64_t bytes, ns;
};
/* What is expected before anything was read for the N addresses, as at EVENT. */
struct lz_reading lz_reading_expected(struct lz_session *s, const uint64_t *addrs, size_t n,
                                      uint64_t event);
/* Adds what has passed since BEGUN, of lz_reading_begin(), in which BYTES were read. */
uint64_t lz_reading_begin(void);
void lz_reading_end(struct lz_reading *r, uint64_t begun, uint64_t bytes);
/* Are the gaps from FROM to TO run in less time than their markers are read at the cost of R? */
bool lz_interval_pays(struct lz_session *s, const struct lz_reading *r, struct lz_gap_start from,
                      struct lz_gap_start to);
/* Runs the last interval before *END. 0: nothing is reached in it, and *END moves to its beginning;
 * 1: *LAST; LZ_SCAN_*, of which LZ_SCAN_MANY is for markers to tell; -1. */
int lz_interval_run_back(struct lz_session *s, const struct lz_scan_what *what,
                         struct lz_gap_start *end, struct lz_hit *last);

#endif
