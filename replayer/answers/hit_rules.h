/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of some places, by pairs of markers: worked out once for each pair that occurs. */
#ifndef LIZARD_REPLAYER_HIT_RULES_H
#define LIZARD_REPLAYER_HIT_RULES_H

#include "replayer/answers/passes.h"
#include "replayer/answers/places.h"
#include "replayer/answers/tally.h"

struct lz_rule {
	enum lz_told told;
	enum lz_gap gap;
	uint32_t *callee; /* [n]: low 32 bits of their entries, 0 where not known */
	size_t n, before;
};

enum { LZ_RULES_AT_HAND = 64 };

struct lz_place_rules {
	struct lz_passes *passes;
	const struct lz_fn *fn;
	const struct lz_cfg *cfg; /* of its file */
	enum lz_told first;       /* in front of the function's first marker */
	struct lz_tally index;    /* FROM << 32 | TO: index in V is N - 1 */
	struct lz_rule *v;
	size_t n, room;
	/* Most pairs are among a few: 1 + an index in V, by a sum of both. */
	struct {
		uint32_t from, to;
		size_t rule;
	} at_hand[LZ_RULES_AT_HAND];
	struct lz_tally unwound; /* FROM << 32 | callee: 1 + what is told */
};

struct lz_hit_rules {
	struct lz_place_rules *v; /* by place */
	size_t n;
	struct lz_fn_code **code; /* [n_codes] */
	size_t n_codes;
	/* By function: 1 + its first place, 0: it has none; places of a function are in a chain. */
	uint32_t *first, *next;
};

int lz_hit_rules_make(struct lz_asked *a, const struct lz_places *p, struct lz_hit_rules *r);
void lz_hit_rules_free(struct lz_hit_rules *r);
/* Valid until the next call. NULL: lz_error(). */
const struct lz_rule *lz_hit_rule(struct lz_place_rules *r, uint32_t from, uint32_t to);
/* As lz_passes_unwound(). */
int lz_hit_unwound(struct lz_place_rules *r, uint32_t from, uint64_t callee);

#endif
