/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/clock.h>
#include <common/recording/flowkeep.h>

/* Packing is behind when so many bytes wait. */
enum { BEHIND = 16 << 20 };

/* What is stored on disk, at the beginning and in a second: most recordings are never looked at,
 * and what is not stored can be computed again. */
enum { DISK_FIRST = 8 << 20, DISK_SECOND = 8 << 20 };

/* Markers become so many times smaller, until that is known. */
enum { USUAL_RATIO = 8 };

/* Where no CPU is idle: what is packed all the same, at the beginning and in a second. zstd takes
 * 4 ms for a mebibyte, so this is 1 % of a CPU. */
enum { CROWDED_FIRST = 16 << 20, CROWDED_SECOND = 2 << 20 };

void lz_flow_keep_begin(struct lz_flow_keep *k, enum lz_flow flow, uint64_t limit)
{
	*k = (struct lz_flow_keep){
	    .flow = flow, .limit = limit, .hashed_from = UINT64_MAX, .begun = lz_now()};
}

static uint64_t allowance(const struct lz_flow_keep *k, uint64_t first, uint64_t second)
{
	const uint64_t ms = (lz_now() - k->begun) / 1000000;

	return first + ms * second / 1000;
}

/* What LEN bytes of markers take on disk. */
static uint64_t packed(const struct lz_flow_keep *k, uint64_t len)
{
	return k->stored ? (uint64_t)((double)len * (double)k->on_disk / (double)k->stored)
	                 : len / USUAL_RATIO;
}

/* Part of an interval saves nobody a computation: so an interval that was expected to fit may take
 * twice as much. */
static bool is_over(const struct lz_flow_keep *k, size_t waiting, bool crowded)
{
	return waiting > BEHIND ||
	       k->on_disk + packed(k, waiting) >
	           allowance(k, DISK_FIRST, DISK_SECOND) + k->expected ||
	       (crowded && k->stored + waiting > allowance(k, CROWDED_FIRST, CROWDED_SECOND));
}

bool lz_flow_keep_stores(struct lz_flow_keep *k, size_t waiting, bool crowded)
{
	if (k->flow != LZ_FLOW_AUTO)
		return k->flow == LZ_FLOW_FULL;
	k->full = k->full || k->on_disk >= k->limit;
	k->behind = k->behind || is_over(k, waiting, crowded);
	return !k->full && !k->behind;
}

bool lz_flow_keep_holds(const struct lz_flow_keep *k)
{
	return k->flow == LZ_FLOW_AUTO && !k->full;
}

void lz_flow_keep_stored(struct lz_flow_keep *k, size_t len, size_t on_disk)
{
	k->interval += len;
	k->stored += len;
	k->on_disk += on_disk;
}

void lz_flow_keep_hashed(struct lz_flow_keep *k, uint64_t at, size_t len)
{
	k->interval += len;
	if (k->hashed_from == UINT64_MAX)
		k->hashed_from = at;
}

/* The next interval is expected to be like the last one. */
void lz_flow_keep_checkpoint(struct lz_flow_keep *k)
{
	k->expected = packed(k, k->interval);
	k->behind = k->on_disk + k->expected > allowance(k, DISK_FIRST, DISK_SECOND);
	k->interval = 0;
}
