/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checksum of a block of the marker stream that is not stored itself. Replay computes it piece
 * by piece while it goes. XXH64 is nearly as fast as memory, so it costs a fortieth of packing.
 * Format 10 has CRC-32 and Adler-32 together, at a seventh of that speed. Neither stands up to
 * somebody who looks for a collision: who can change a recording can change its checksums too. */
#ifndef LIZARD_FLOWSUM_H
#define LIZARD_FLOWSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define XXH_STATIC_LINKING_ONLY /* for the size of the state */
#include <xxhash.h>

enum lz_sum_kind { LZ_SUM_CRC_ADLER, LZ_SUM_XXH64 };

struct lz_flow_sum {
	enum lz_sum_kind kind;
	uint32_t crc, adler;
	XXH64_state_t xxh;
};

void lz_flow_sum_begin(struct lz_flow_sum *s, enum lz_sum_kind kind);
void lz_flow_sum_add(struct lz_flow_sum *s, const uint8_t *bytes, size_t len);
uint64_t lz_flow_sum_value(const struct lz_flow_sum *s);
/* Of a whole block, as it is recorded: LZ_SUM_XXH64. */
uint64_t lz_flow_sum_of(const uint8_t *bytes, size_t len);

#endif
