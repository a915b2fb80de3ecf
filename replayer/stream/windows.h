/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where, in one block of the marker stream, control can have been at given addresses. */
#ifndef LIZARD_REPLAYER_WINDOWS_H
#define LIZARD_REPLAYER_WINDOWS_H

#include "replayer/stream/target.h"

/* A stretch of the stream that is worth running: from offset FROM to offset TO. */
struct lz_window {
	uint64_t from, to;
	uint64_t owner; /* the activation: lz_act_id() */
	bool open;      /* its next own marker has not been seen */
	/* of an open one, its activation's open one before it: 1 + index; 0: none */
	uint32_t older;
	bool rough; /* FROM may lie inside a marker */
};

struct lz_windows {
	struct lz_window *w;
	size_t n, cap;
};

/* The windows of block BLOCK between stream offsets FROM and TO, in the order of their
 * beginnings, in which thread number THREAD (LZ_NO_THREAD: any) can have been at one of the N
 * targets. Where the stream does not fit the CFG the whole block is one window. */
int lz_find_windows(struct lz_stream *s, struct lz_modules *m, uint32_t block, uint64_t from,
                    uint64_t to, uint32_t thread, const struct lz_target *t, size_t n,
                    struct lz_windows *out);

#endif
