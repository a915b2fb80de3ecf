/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that have got numbers, in the order in which they were met. */
#ifndef LIZARD_REPLAYER_NUMBERS_H
#define LIZARD_REPLAYER_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

struct lz_numbered {
	char *name;
	uint64_t more; /* tells those of the same name apart */
};

/* Zeroes are an empty one. */
struct lz_numbers {
	struct lz_numbered *v;
	size_t n, room;
	uint32_t *slot; /* 1 + an index in V; 0: free */
	size_t n_slots;
};

/* The number of NAME with MORE; a new one is N. */
int lz_number_of(struct lz_numbers *t, const char *name, uint64_t more, uint32_t *number);
void lz_numbers_free(struct lz_numbers *t);

#endif
