/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk over the whole stream that is spread over CPUs: each thread takes a block, finds the call
 * stacks behind it if they are not known, and decodes it by itself. */
#ifndef LIZARD_REPLAYER_SPREAD_H
#define LIZARD_REPLAYER_SPREAD_H

#include "replayer/stream/stream.h"

struct lz_spread {
	uint64_t from, to;    /* stream offsets; TO 0: all of it */
	const uint8_t *watch; /* as lz_decoder_feed() takes it */
	bool begins_only;     /* blocks in which nothing of WATCH begins are of no interest */
	bool calls_only;      /* FN is not called for edges */
	/* Called by several threads at once, for blocks in any order. Only an error ends the walk. */
	lz_mark_fn *fn;
	/* FN looks only at the running activation, and at none when one begins. Then a block is
	 * looked at before the call stacks at its start are known, but for what those have written
	 * that were there before it. */
	bool inner;
	/* Called by these threads, too, or NULL: in front of what is looked at of a block; behind
	 * it, and where a turn ends in it, with who ran up to there on the stack. */
	lz_spot_fn *begin, *end;
	/* Called for one block after the other, in the order of the stream, when they have been
	 * looked at; or NULL. Non-zero ends the walk. */
	int (*in_order)(void *arg);
	void **arg; /* [n], one for each thread */
	/* [n], each by function, or NULL: see struct lz_decoder */
	struct lz_pairs **pairs;
	unsigned n;
	/* Called by the caller's thread now and then, with how many bytes of the stream are done.
	 * Non-zero ends the walk: what has been looked at then is the beginning of the stream. */
	int (*at)(void *arg, uint64_t offset);
	void *at_arg;
};

/* On how many CPUs a walk may run. */
unsigned lz_spread_cpus(void);
/* Returns 0, or what AT returned; -1: lz_error(). Then the stream's decoder holds the stacks
 * at TO. */
int lz_stream_spread(struct lz_stream *s, const struct lz_spread *w);

#endif
