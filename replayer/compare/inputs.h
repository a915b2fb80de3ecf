/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came from outside and was not the same in two runs: results and data of system calls, signals,
 * instructions that depend on the machine. */
#ifndef LIZARD_REPLAYER_INPUTS_H
#define LIZARD_REPLAYER_INPUTS_H

#include "replayer/compare/pair_threads.h"

/* Two events that are a pair, or one that the other run has none like (NULL). Valid until FN
 * returns. Non-zero ends the comparison. */
typedef int lz_input_fn(void *arg, const struct lz_event *first, const struct lz_event *second);

struct lz_inputs {
	struct lz_asked *a[2];
	uint64_t from[2], to[2]; /* stream offsets */
	struct lz_work *work;    /* may be NULL */
	lz_input_fn *fn;
	void *arg;
};

/* Of one pair of threads the events in that stretch. Addresses are not compared, nor what the kernel
 * gives back of the program's own, nor the numbers of threads and children that are made.
 * What only one run has at its end is not told: it may come behind what differs. 0, or what FN
 * returned; -1. */
int lz_inputs_compare(const struct lz_inputs *in, const struct lz_paired_thread *thread);

#endif
