/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/coverage/unwound.h"

static int add(struct lz_unwound *u, bool back, uint64_t call, uint32_t last, uint64_t n)
{
	const struct lz_tally_row *row = lz_tally_row(&u->call, call);

	if (!row)
		return -1;
	const uint64_t number = (uint64_t)(row - u->call.v);
	return lz_tally_add(back ? &u->back : &u->gone, number << 32 | last, n);
}

int lz_unwound_add(struct lz_unwound *u, bool back, const struct lz_act *acts, size_t i, size_t n)
{
	const uint32_t callee = i + 1 < n ? acts[i + 1].fn : LZ_FN_NONE;

	if (acts[i].fn == LZ_FN_NONE || acts[i].tail > 1)
		return 0;
	return add(u, back, (uint64_t)acts[i].fn << 32 | callee, acts[i].last, 1);
}

static int merge(struct lz_unwound *u, const struct lz_unwound *from, bool back)
{
	const struct lz_tally *t = back ? &from->back : &from->gone;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->n; i++)
		rc = add(u, back, from->call.v[t->v[i].key >> 32].key, (uint32_t)t->v[i].key,
		         t->v[i].n);
	return rc;
}

int lz_unwound_merge(struct lz_unwound *u, const struct lz_unwound *from)
{
	const int rc = merge(u, from, false);

	return rc == 0 ? merge(u, from, true) : rc;
}

int lz_unwound_count(struct lz_unwound *u, struct lz_lost_calls_finder *l)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < u->gone.n; i++) {
		const struct lz_tally_row row = u->gone.v[i];
		const struct lz_tally_row *back = lz_tally_row(&u->back, row.key);
		const uint64_t call = u->call.v[row.key >> 32].key;

		if (!back)
			return -1;
		if (row.n > back->n)
			rc = lz_lost_calls_add_behind(l, (uint32_t)(call >> 32), (uint32_t)row.key,
			                              (uint32_t)call, row.n - back->n);
	}
	return rc;
}

void lz_unwound_free(struct lz_unwound *u)
{
	lz_tally_free(&u->call);
	lz_tally_free(&u->gone);
	lz_tally_free(&u->back);
}
