/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block that is decoded before the call stacks at its start are known. Activations that begin in
 * it are known all the same. What those before it wrote is left, mostly a few stretches, and is
 * decoded when their stacks are known. */
#ifndef LIZARD_REPLAYER_PIECE_H
#define LIZARD_REPLAYER_PIECE_H

#include "replayer/stream/inside.h"

struct lz_stretch {
	uint64_t from, to;
	struct lz_landed landed; /* in the block, before it */
};

/* Zeroes and lz_piece_init() make an empty one, which is used again for each block. */
struct lz_piece {
	struct lz_decoder d; /* the stacks from what was there at the start upwards */
	struct lz_stretch *left;
	size_t n_left, left_room;
	uint64_t upto; /* all from here on is left, too, */
	uint32_t turn; /* in this turn */
};

void lz_piece_init(struct lz_stream *s, struct lz_piece *p);
void lz_piece_free(struct lz_piece *p);
/* Decodes the block that C has loaded, as lz_decoder_feed() does; C's decoder stays as it is. */
int lz_piece_decode(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                    const struct lz_looking *l);
/* C is at the block's start, with the stacks there: decodes what is left, and has those at its end
 * then. */
int lz_piece_join(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                  const struct lz_looking *l);

#endif
