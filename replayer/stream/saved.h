/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the call stacks at the starts of blocks are kept, in memory and in the recording. */
#ifndef LIZARD_REPLAYER_SAVED_H
#define LIZARD_REPLAYER_SAVED_H

#include "replayer/stream/inside.h"

/* A saved activation; the ones below it hang on `parent`. Node 0 is the empty stack. */
struct node {
	struct lz_act act;
	uint32_t parent;
};

/* At the start of a block: the stacks that are not empty. */
struct saved {
	uint32_t stacks, n;  /* slice of stream.stacks */
	uint64_t landed_act; /* as lz_decoder.landed */
	uint64_t landed_last;
};

struct saved_stack {
	uint32_t thread, top;
	uint32_t parked, n_parked; /* slice of stream.parked */
};

struct saved_parked {
	uint32_t top;
	uint32_t n;
	size_t base;
};

#endif
