#include <stdlib.h>
#include "replayer/navigate/result_cache.h"
#include "replayer/navigate/nav.h"

static size_t slot_of(const struct lz_pos *p)
{
	uint64_t h = ((p->ip * 31 + p->marker) * 31 + p->event) * 31 + p->n;

	/* Knuth: multiplicative hashing, by the golden ratio; the upper bits depend on all */
	return (h * 0x9e3779b97f4a7c15 >> 32) % LZ_ANSWERS;
}

const struct lz_pos *lz_answers_find(const struct lz_answers *a, const struct lz_pos *goal)
{
	const struct lz_answer *s = a->slot ? &a->slot[slot_of(goal)] : NULL;

	return s && lz_pos_same(&s->goal, goal) ? &s->to : NULL;
}

void lz_answers_keep(struct lz_answers *a, const struct lz_pos *goal, const struct lz_pos *to)
{
	if (!a->slot)
		a->slot = calloc(LZ_ANSWERS, sizeof(*a->slot));
	if (a->slot)
		a->slot[slot_of(goal)] = (struct lz_answer){*goal, *to};
}

void lz_answers_free(struct lz_answers *a)
{
	free(a->slot);
	a->slot = NULL;
}
