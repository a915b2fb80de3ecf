/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of two recordings, whatever the order of their turns: those are a pair that the same
 * thread has made, with the same function, as the same one in order. */
#ifndef LIZARD_REPLAYER_PAIR_THREADS_H
#define LIZARD_REPLAYER_PAIR_THREADS_H

#include "replayer/compare/pair_fns.h"

struct lz_paired_thread {
	uint32_t thread[2]; /* LZ_NO_THREAD: this recording has none like it */
	uint32_t entry;     /* number of its function, LZ_FN_NONE */
};

struct lz_paired_threads {
	struct lz_paired_thread *v; /* by the first recording's number, then the others */
	size_t n, room;
};

int lz_pair_threads(struct lz_asked *a[2], const struct lz_paired_fns *fns,
                    struct lz_paired_threads *p);
void lz_paired_threads_free(struct lz_paired_threads *p);

#endif
