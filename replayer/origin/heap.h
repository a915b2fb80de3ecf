/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The block of the C library's heap that holds an address now. */
#ifndef LIZARD_REPLAYER_HEAP_H
#define LIZARD_REPLAYER_HEAP_H

#include "replayer/origin/allocation.h"

/* 0; LZ_ACCESS_NONE: it lies in no heap, or what the heap says of itself is not consistent; -1. A block
 * that was freed counts. */
int lz_heap_block(struct lz_session *s, uint64_t addr, struct lz_block *b);

#endif
