/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last arrival at an address, found from the markers. */
#ifndef LIZARD_REPLAYER_JUMP_H
#define LIZARD_REPLAYER_JUMP_H

#include "replayer/session/session.h"

enum { LZ_FIND_UNKNOWN = 2 };
/* The last arrival at one of ADDRS before the start of the gap (EVENT, MARKER); those before marker
 * FLOOR need not be found. 1: *HIT; 0: there is none; LZ_FIND_UNKNOWN: the markers do not tell of
 * all these addresses; LZ_SCAN_*; -1. */
int lz_find_last(struct lz_session *s, uint64_t floor, uint64_t event, uint64_t marker,
                 const uint64_t *addrs, size_t n, struct lz_pos *hit);
/* How many bytes of markers before MARKER must be looked at for the first time. */
uint64_t lz_find_last_cost(struct lz_session *s, uint64_t marker);

#endif
