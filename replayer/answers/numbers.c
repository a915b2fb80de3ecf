/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/numbers.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static size_t slot_of(const struct lz_numbers *t, const char *name, uint64_t more)
{
	size_t i = XXH64(name, strlen(name), more) & (t->n_slots - 1);

	for (; t->slot[i]; i = (i + 1) & (t->n_slots - 1)) {
		const struct lz_numbered *one = &t->v[t->slot[i] - 1];

		if (one->more == more && !strcmp(one->name, name))
			break;
	}
	return i;
}

static int grow(struct lz_numbers *t)
{
	const size_t n = t->n_slots ? 2 * t->n_slots : 64;
	uint32_t *slot;

	if (2 * t->n < t->n_slots)
		return 0;
	if (!(slot = calloc(n, sizeof(*slot))))
		return lz_fail("out of memory for %zu names", t->n);
	free(t->slot);
	t->slot = slot;
	t->n_slots = n;
	for (size_t i = 0; i < t->n; i++)
		t->slot[slot_of(t, t->v[i].name, t->v[i].more)] = (uint32_t)i + 1;
	return 0;
}

int lz_number_of(struct lz_numbers *t, const char *name, uint64_t more, uint32_t *number)
{
	if (grow(t) < 0)
		return -1;
	const size_t i = slot_of(t, name, more);
	if (!t->slot[i]) {
		if (lz_reserve(t->v, t->room, t->n + 1) < 0)
			return -1;
		t->v[t->n] = (struct lz_numbered){strdup(name), more};
		if (!t->v[t->n].name)
			return lz_fail("out of memory for %zu names", t->n);
		t->slot[i] = (uint32_t)++t->n;
	}
	*number = t->slot[i] - 1;
	return 0;
}

void lz_numbers_free(struct lz_numbers *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].name);
	free(t->v);
	free(t->slot);
	*t = (struct lz_numbers){0};
}
