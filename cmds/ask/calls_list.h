/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of `lizard calls`: which calls are in it, and how they are printed. */
#ifndef LIZARD_CMDS_CALLS_LIST_H
#define LIZARD_CMDS_CALLS_LIST_H

#include <cmds/ask/asking.h>

struct lz_calls_list {
	struct lz_asking asking;
	uint64_t longest; /* so many, the longest first; 0: all, in order */
	uint64_t limit;   /* at most so many */
	uint64_t at;      /* those that run at this stream offset; UINT64_MAX: all */
	bool values;      /* with arguments and what they return */
};

/* Prints the activations of the functions FN with WANTED[FN]. -1: lz_error(). */
int lz_calls_list(struct lz_calls_list *l, const uint8_t *wanted);

#endif
