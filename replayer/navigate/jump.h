/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last arrival at an address, found from the markers. */
#ifndef LIZARD_REPLAYER_JUMP_H
#define LIZARD_REPLAYER_JUMP_H

#include "replayer/navigate/interval.h"
#include "replayer/session/session.h"

enum { LZ_FIND_UNKNOWN = 2, LZ_FIND_SLOW = 3 };
/* A search for the last arrival at one of ADDRS, which may be gone on with. */
struct lz_last_search {
	const uint64_t *addrs;
	size_t n;
	uint64_t floor;            /* arrivals before this marker need not be found */
	uint64_t reads_from;       /* what lies behind this marker is read at any price */
	struct lz_reading reading; /* what that has cost so far */
	struct lz_pos hit;
};
/* Before gap *END. 1: X->hit; 0: there is none; LZ_FIND_UNKNOWN: the markers do not tell of all
 * these addresses; LZ_FIND_SLOW: *END has moved, and to run the interval before it is cheaper than
 * to read on; LZ_SCAN_*; -1. */
int lz_find_last(struct lz_session *s, struct lz_last_search *x, struct lz_gap_start *end);
/* How many bytes of markers before MARKER must be looked at for the first time. */
uint64_t lz_find_last_cost(struct lz_session *s, uint64_t marker);

#endif
