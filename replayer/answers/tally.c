/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/tally.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

static size_t slot_of(const struct lz_tally *t, uint64_t key)
{
	size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> 20) & (t->n_slots - 1);

	while (t->slot[i] && t->v[t->slot[i] - 1].key != key)
		i = (i + 1) & (t->n_slots - 1);
	return i;
}

static int grow(struct lz_tally *t)
{
	const size_t n = t->n_slots ? 2 * t->n_slots : FIRST_SLOTS;
	uint32_t *slot = calloc(n, sizeof(*slot));

	if (!slot || t->n >= UINT32_MAX - 1) {
		free(slot);
		return lz_fail("out of memory for %zu counts", t->n);
	}
	free(t->slot);
	t->slot = slot;
	t->n_slots = n;
	for (size_t i = 0; i < t->n; i++)
		t->slot[slot_of(t, t->v[i].key)] = (uint32_t)i + 1;
	return 0;
}

struct lz_tally_row *lz_tally_row(struct lz_tally *t, uint64_t key)
{
	if (2 * (t->n + 1) > t->n_slots && grow(t) < 0)
		return NULL;
	const size_t i = slot_of(t, key);
	if (!t->slot[i]) {
		if (lz_reserve(t->v, t->room, t->n + 1) < 0)
			return NULL;
		t->v[t->n] = (struct lz_tally_row){.key = key};
		t->slot[i] = (uint32_t)++t->n;
	}
	return &t->v[t->slot[i] - 1];
}

int lz_tally_add(struct lz_tally *t, uint64_t key, uint64_t n)
{
	struct lz_tally_row *row = lz_tally_row(t, key);

	if (!row)
		return -1;
	row->n += n;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct lz_tally_row *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void lz_tally_sort(struct lz_tally *t)
{
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_number);
}

void lz_tally_free(struct lz_tally *t)
{
	free(t->v);
	free(t->slot);
	*t = (struct lz_tally){0};
}
