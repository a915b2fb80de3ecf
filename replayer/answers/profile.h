/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who called whom how often, and how much control flow was theirs: exact, as each call and return is
 * recorded. What is counted are bytes of markers, of which a branch writes one: work, not time. */
#ifndef LIZARD_REPLAYER_PROFILE_H
#define LIZARD_REPLAYER_PROFILE_H

#include "replayer/answers/asked.h"
#include "replayer/answers/tally.h"
#include <stdio.h>

/* A function below a chain of callers. Node 0 is above all of them. What is more than
 * LZ_PROFILE_DEPTH deep hangs on the last of these. */
enum { LZ_PROFILE_DEPTH = 1000 };

struct lz_profile_node {
	uint32_t parent, fn;
	uint64_t calls, self;
	uint64_t all;   /* self, and that of all below it */
	uint64_t first; /* stream offset at which it was met first */
};

struct lz_profile {
	struct lz_profile_node *node; /* in the order of FIRST, parents before children */
	size_t n, room;
	struct lz_tally child; /* while it is made, of parent and function: its number */
	struct lz_tally edge;  /* caller << 32 | callee: calls, from whatever chain */
};

int lz_profile_make(struct lz_asked *a, struct lz_profile *p);
void lz_profile_free(struct lz_profile *p);

/* Of a function, wherever it was called. ALL counts what is below it once, also if it recurs. */
struct lz_profile_fn {
	uint32_t fn;
	uint64_t calls, self, all;
};
/* malloced, those with the most SELF first, *N of them; NULL: out of memory. */
struct lz_profile_fn *lz_profile_fns(const struct lz_asked *a, const struct lz_profile *p,
                                     size_t *n);

/* For callgrind_annotate and KCachegrind. -1: it cannot be written. */
int lz_profile_write_callgrind(const struct lz_asked *a, const struct lz_profile *p, FILE *to);
/* "main;parse;read_word 1234" for each chain: for flame graphs. */
int lz_profile_write_folded(const struct lz_asked *a, const struct lz_profile *p, FILE *to);

#endif
