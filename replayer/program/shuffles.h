/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector instructions that put elements elsewhere and compute nothing. Pure. */
#ifndef LIZARD_REPLAYER_SHUFFLES_H
#define LIZARD_REPLAYER_SHUFFLES_H

#include "replayer/program/operands.h"

struct lz_shuffled {
	unsigned operand; /* where the element was */
	uint64_t at;      /* its first byte there that is meant */
	uint64_t len;     /* bytes of it from there on */
};

/* Where byte OFF of what I writes came from. */
bool lz_shuffle_source(const struct lz_decoded *i, uint64_t off, struct lz_shuffled *from);

#endif
