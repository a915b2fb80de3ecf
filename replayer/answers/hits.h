/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each time control came to some places, as breakpoints there would count. */
#ifndef LIZARD_REPLAYER_HITS_H
#define LIZARD_REPLAYER_HITS_H

#include "replayer/answers/places.h"

struct lz_hit {
	uint64_t offset; /* of the stream: no later marker was written */
	uint64_t event;  /* EXACT: the events before it */
	uint32_t thread, place;
	/* OFFSET is that of the last marker before it, and no event comes between them. Else OFFSET
	 * may be that of an earlier one of the activation. */
	bool exact;
};

/* FN is called for each, in the order in which they are found: those of a call before those of its
 * caller. Non-zero ends the search, and is returned. *UNKNOWN: how often it is not known whether
 * control came there. */
typedef int lz_hit_fn(void *arg, const struct lz_hit *hit);
int lz_hits_each(struct lz_asked *a, const struct lz_places *p, lz_hit_fn *fn, void *arg,
                 uint64_t *unknown);
/* Their number. */
int lz_hits_count(struct lz_asked *a, const struct lz_places *p, uint64_t *n, uint64_t *unknown);

/* As lizard-gdb takes it, --at or `jump_forward`. */
const char *lz_hit_position(const struct lz_asked *a, const struct lz_places *p,
                            const struct lz_hit *hit, char buf[LZ_POS_TEXT]);

#endif
