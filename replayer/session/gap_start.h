/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instants that begin a gap, and their order. */
#ifndef LIZARD_REPLAYER_GAP_START_H
#define LIZARD_REPLAYER_GAP_START_H

#include <stdint.h>

struct lz_gap_start {
	uint64_t event, marker;
};

/* Orders instants by (event, marker). */
int lz_gap_cmp(uint64_t event_a, uint64_t marker_a, uint64_t event_b, uint64_t marker_b);

static inline struct lz_gap_start lz_gap_later(struct lz_gap_start a, struct lz_gap_start b)
{
	return lz_gap_cmp(a.event, a.marker, b.event, b.marker) > 0 ? a : b;
}

#endif
