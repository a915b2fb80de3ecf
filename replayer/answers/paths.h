/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls by where they are made: below which functions, without which ones in between, behind which
 * other calls. */
#ifndef LIZARD_REPLAYER_PATHS_H
#define LIZARD_REPLAYER_PATHS_H

#include "replayer/answers/asked.h"

enum { LZ_PATH_STEPS = 16, LZ_PATH_CHAINS = 4 };

struct lz_path_step {
	uint8_t *is; /* [functions]: is it this one? */
	bool direct; /* called by the one before itself, not somewhere below */
};

/* Functions of one call stack, outermost first. */
struct lz_path_chain {
	unsigned first, n; /* slice of lz_path.step */
	uint8_t *without;  /* functions that must not be active between the ends; NULL: any may */
};

/* Chains, one behind the other. */
struct lz_path {
	struct lz_path_step step[LZ_PATH_STEPS];
	unsigned n_steps;
	struct lz_path_chain chain[LZ_PATH_CHAINS];
	unsigned n_chains;
};

/* Words with blanks between them:
 *
 *	path  = chain { "then" chain }
 *	chain = FUNCTION { ( ">" | ">>" ) FUNCTION } [ "without" FUNCTION { FUNCTION } ]
 *
 * -1: lz_error(); nothing is left to free then. */
int lz_path_parse(const struct lz_asked *a, const char *text, struct lz_path *p);
void lz_path_free(struct lz_path *p);

/* The call of the last function of the last chain. */
struct lz_path_match {
	uint32_t thread;
	uint64_t from;      /* stream offset where the first function of the first chain begins, */
	uint64_t at;        /* and this call */
	const uint32_t *fn; /* the functions of its stack from the first one of the last chain on */
	size_t n;
};
/* Calls FN for each such call once, in order: with the latest FROM that there is, which is at most
 * WITHIN bytes of markers before AT. Non-zero ends it, and is returned. */
typedef int lz_path_fn(void *arg, const struct lz_path_match *m);
int lz_path_search(struct lz_asked *a, const struct lz_path *p, uint64_t within, lz_path_fn *fn,
                   void *arg);

#endif
