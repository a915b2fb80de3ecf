/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include "replayer/navigate/result_cache.h"
#include "replayer/navigate/nav.h"

static size_t slot_of(const struct lz_pos *p)
{
	uint64_t h = ((p->ip * 31 + p->marker) * 31 + p->event) * 31 + p->n;

	/* Knuth: multiplicative hashing, by the golden ratio; the upper bits depend on all */
	return (h * 0x9e3779b97f4a7c15 >> 32) % LZ_RESULTS;
}

const struct lz_pos *lz_results_find(const struct lz_results *a, const struct lz_pos *goal)
{
	const struct lz_result *s = a->slot ? &a->slot[slot_of(goal)] : NULL;

	return s && lz_pos_same(&s->goal, goal) ? &s->to : NULL;
}

void lz_results_keep(struct lz_results *a, const struct lz_pos *goal, const struct lz_pos *to)
{
	if (!a->slot)
		a->slot = calloc(LZ_RESULTS, sizeof(*a->slot));
	if (a->slot)
		a->slot[slot_of(goal)] = (struct lz_result){*goal, *to};
}

void lz_results_free(struct lz_results *a)
{
	free(a->slot);
	a->slot = NULL;
}
