/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instrumented functions of two recordings, numbered so that equal ones have one number,
 * wherever they were loaded: by module, name, source file and, of several such, by order. One that is
 * the only one of its name may have another file. */
#ifndef LIZARD_REPLAYER_PAIR_FNS_H
#define LIZARD_REPLAYER_PAIR_FNS_H

#include "replayer/answers/asked.h"

enum lz_pairing {
	LZ_PAIR_SAME,    /* both have it, with the same graph and markers */
	LZ_PAIR_CHANGED, /* both have it, with another graph */
	LZ_PAIR_ALONE    /* only one of them has it */
};

struct lz_paired_fns {
	uint32_t *number[2]; /* of each function of a recording, by the stream's number */
	size_t n_fns[2];
	uint8_t *kind;     /* enum lz_pairing, by number */
	const char **name; /* by number, the linker's */
	uint32_t *fn;      /* by number: the stream's, in the first run that has it */
	bool *second;      /* by number: the first run has it not */
	uint32_t n;        /* numbers */
	bool differ;       /* not all are the same */
};

int lz_pair_fns(struct lz_asked *a[2], struct lz_paired_fns *p);
void lz_paired_fns_free(struct lz_paired_fns *p);

/* The number of function FN of recording SIDE, LZ_FN_NONE of code that nothing is known of. */
static inline uint32_t lz_paired_fn(const struct lz_paired_fns *p, int side, uint32_t fn)
{
	return fn < p->n_fns[side] ? p->number[side][fn] : LZ_FN_NONE;
}

/* Code that nothing is known of is taken for the same. */
static inline enum lz_pairing lz_paired_kind(const struct lz_paired_fns *p, uint32_t number)
{
	return number < p->n ? (enum lz_pairing)p->kind[number] : LZ_PAIR_SAME;
}

#endif
