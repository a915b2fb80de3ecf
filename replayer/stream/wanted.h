/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A filter: the blocks that can hold what somebody looks for. */
#ifndef LIZARD_REPLAYER_WANTED_H
#define LIZARD_REPLAYER_WANTED_H

#include "replayer/stream/stream.h"

struct lz_wanted {
	const struct lz_stream *s;
	bool all;         /* nothing is left out */
	bool begins_only; /* blocks in which nothing of interest begins are left out */
	struct lz_wanted_bits {
		uint16_t at; /* in what is known of a block */
		uint8_t bits;
	} * v;
	size_t n;
};

/* WATCH as lz_decoder_feed() takes it. S must outlive it. */
int lz_wanted_make(struct lz_wanted *w, const struct lz_stream *s, const uint8_t *watch,
                   bool begins_only);
void lz_wanted_free(struct lz_wanted *w);
/* BLOCK can hold it: also if nothing is known of the block. */
bool lz_wanted_in(const struct lz_wanted *w, uint32_t block);

#endif
