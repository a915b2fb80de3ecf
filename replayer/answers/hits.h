/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each time control came to some places, as breakpoints there would count. */
#ifndef LIZARD_REPLAYER_HITS_H
#define LIZARD_REPLAYER_HITS_H

#include "replayer/answers/places.h"

struct lz_hit {
	uint64_t offset; /* of the stream: no later marker was written */
	uint32_t thread, place;
	/* OFFSET is that of the last marker before it. Else it may be that of an earlier one of the
	 * activation. */
	bool sure;
};

/* FN is called for each, in the order in which they are found: those of a call before those of its
 * caller. Non-zero ends the search, and is returned. *UNKNOWN: how often it is not known whether
 * control came there. */
typedef int lz_hit_fn(void *arg, const struct lz_hit *hit);
int lz_hits_each(struct lz_asked *a, const struct lz_places *p, lz_hit_fn *fn, void *arg,
                 uint64_t *unknown);
/* Their number. */
int lz_hits_count(struct lz_asked *a, const struct lz_places *p, uint64_t *n, uint64_t *unknown);

/* As lizard-gdb takes it, --at or `jump_forward`. Whether it is exact: it is sure, and no event
 * comes between its last marker and it. Events are read for that, which takes longer than to find
 * the hit. */
bool lz_hit_position(struct lz_asked *a, const struct lz_places *p, const struct lz_hit *hit,
                     char buf[LZ_POS_TEXT]);

#endif
