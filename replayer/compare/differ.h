/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two runs part, and where they meet again.
 *
 * Each thread is compared by itself. As long as the markers are the same bytes, nothing else is
 * looked at; call stacks are known only around a difference, and where the programs differ. */
#ifndef LIZARD_REPLAYER_DIFFER_H
#define LIZARD_REPLAYER_DIFFER_H

#include "replayer/compare/pair_threads.h"
#include "replayer/compare/ways.h"

struct lz_difference {
	const struct lz_paired_thread *thread;
	uint64_t
	    since[2];   /* stream offsets: up to here they were the same since the last meeting, */
	uint64_t at[2]; /* and here they part: in front of the first other marker */
	struct lz_way way[2];
	uint32_t *stack; /* [depth] numbers of functions, outermost first; malloced */
	uint32_t depth;
	bool changed; /* the innermost has another graph in the second recording */
	bool meets;   /* again, in the function MEET_FN (LZ_FN_NONE: in none) */
	uint64_t meet[2];
	uint32_t meet_fn;
};

struct lz_differ {
	struct lz_asked *a[2];
	struct lz_paired_fns fns;
	struct lz_paired_threads threads;
	struct lz_work work;
	uint32_t tid;            /* of the first recording: only this thread; 0: all */
	uint64_t limit;          /* differences of each thread; 0: all */
	bool partial;            /* a signal has ended it */
	struct lz_difference *v; /* by their place in the first recording */
	size_t n, room;
};

/* A and LIMIT are given, the rest is zeroes. Finds all. */
int lz_differ_run(struct lz_differ *d);
/* What THREADS has is compared, or TID excludes it. */
bool lz_differ_wants(const struct lz_differ *d, const struct lz_paired_thread *t);
void lz_differ_free(struct lz_differ *d);

#endif
