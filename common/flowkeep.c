/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/clock.h>
#include <common/flowkeep.h>

/* Packing is behind when so many bytes wait. */
enum { BEHIND = 16 << 20 };

/* Where no CPU is idle: what is packed all the same, at the beginning and in a second. zstd takes
 * 4 ms for a mebibyte, so this is 1 % of a CPU. */
enum { CROWDED_FIRST = 16 << 20, CROWDED_SECOND = 2 << 20 };

void lz_flow_keep_begin(struct lz_flow_keep *k, enum lz_flow flow, uint64_t limit)
{
	*k = (struct lz_flow_keep){
	    .flow = flow, .limit = limit, .hashed_from = UINT64_MAX, .begun = lz_now()};
}

static uint64_t allowance(const struct lz_flow_keep *k)
{
	const uint64_t ms = (lz_now() - k->begun) / 1000000;

	return CROWDED_FIRST + ms * CROWDED_SECOND / 1000;
}

bool lz_flow_keep_stores(struct lz_flow_keep *k, size_t waiting, bool crowded)
{
	if (k->flow != LZ_FLOW_AUTO)
		return k->flow == LZ_FLOW_FULL;
	k->full = k->full || k->on_disk >= k->limit;
	k->behind =
	    k->behind || waiting > BEHIND || (crowded && k->stored + waiting > allowance(k));
	return !k->full && !k->behind;
}

bool lz_flow_keep_holds(const struct lz_flow_keep *k)
{
	return k->flow == LZ_FLOW_AUTO && !k->full;
}

void lz_flow_keep_stored(struct lz_flow_keep *k, size_t len, size_t on_disk)
{
	k->stored += len;
	k->on_disk += on_disk;
}

void lz_flow_keep_hashed(struct lz_flow_keep *k, uint64_t at)
{
	if (k->hashed_from == UINT64_MAX)
		k->hashed_from = at;
}

void lz_flow_keep_checkpoint(struct lz_flow_keep *k)
{
	k->behind = false;
}
