/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checksum of a block of the marker stream that is not stored itself. Replay computes it piece
 * by piece while it goes. XXH3 is as fast as the cache. Format 11 has XXH64, at a fifth of that
 * speed, format 10 CRC-32 and Adler-32 together, at a thirtieth. None stands up to somebody who
 * looks for a collision: who can change a recording can change its checksums too. */
#ifndef LIZARD_FLOWSUM_H
#define LIZARD_FLOWSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <lizard/recording.h>
#define XXH_STATIC_LINKING_ONLY /* for the size of the states */
#include <xxhash.h>

/* May be copied. Its alignment is that of a cache line. */
struct lz_flow_sum {
	enum lz_sum_kind kind;
	uint32_t crc, adler;
	XXH64_state_t xxh64;
	XXH3_state_t xxh3;
};

void lz_flow_sum_begin(struct lz_flow_sum *s, enum lz_sum_kind kind);
void lz_flow_sum_add(struct lz_flow_sum *s, const uint8_t *bytes, size_t len);
uint64_t lz_flow_sum_value(const struct lz_flow_sum *s);
/* Of a whole block, as it is recorded: LZ_SUM_XXH3. */
uint64_t lz_flow_sum_of(const uint8_t *bytes, size_t len);

#endif
