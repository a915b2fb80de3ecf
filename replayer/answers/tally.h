/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much there is of each of some things that have numbers. */
#ifndef LIZARD_REPLAYER_TALLY_H
#define LIZARD_REPLAYER_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct lz_tally_row {
	uint64_t key, n, sum;
};

/* Zeroes are an empty one. */
struct lz_tally {
	struct lz_tally_row *v;
	size_t n, room;
	uint32_t *slot; /* 1 + an index in V; 0: free */
	size_t n_slots;
};

/* The row of KEY, made if there is none; valid until the next call. NULL: lz_error(). */
struct lz_tally_row *lz_tally_row(struct lz_tally *t, uint64_t key);
int lz_tally_add(struct lz_tally *t, uint64_t key, uint64_t n);
/* The largest N first, equal ones by KEY. Nothing may be added after that. */
void lz_tally_sort(struct lz_tally *t);
void lz_tally_free(struct lz_tally *t);

#endif
