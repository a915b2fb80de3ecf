/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last allocation of a block of memory by the C library's malloc(). */
#ifndef LIZARD_REPLAYER_ALLOCATION_H
#define LIZARD_REPLAYER_ALLOCATION_H

#include "replayer/origin/access.h"

enum { LZ_RETURNS_MAX = 16 };

struct lz_allocation_query {
	uint64_t addr;                    /* in the block */
	uint64_t returns[LZ_RETURNS_MAX]; /* malloc()'s return instructions */
	size_t n_returns;
	struct lz_gap_from from; /* no further than to this gap */
};

struct lz_block {
	uint64_t addr, len;
};

/* To right before the return from that malloc(). LZ_ACCESS_NONE, LZ_ACCESS_INTERRUPTED: the session is where it was; -1. */
int lz_allocation_go(struct lz_session *s, const struct lz_allocation_query *q, struct lz_block *b);

#endif
