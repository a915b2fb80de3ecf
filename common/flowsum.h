/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checksum of a block of the marker stream that is not stored itself. Replay computes it piece
 * by piece while it goes. 64 bits, made of two sums that zlib has, so that no library is needed for
 * it alone: CRC-32 finds every difference within 32 bits and all others but one in 2^32, Adler-32
 * is independent of it. Together they are faster than compressing, which they replace. They need
 * not stand up to somebody who looks for a collision: who can change a recording can change its
 * checksums too. */
#ifndef LIZARD_FLOWSUM_H
#define LIZARD_FLOWSUM_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

struct lz_flow_sum {
	uint32_t crc, adler;
};

#define LZ_FLOW_SUM_EMPTY ((struct lz_flow_sum){0, 1})

static inline void lz_flow_sum_add(struct lz_flow_sum *s, const uint8_t *bytes, size_t len)
{
	s->crc = (uint32_t)crc32_z(s->crc, bytes, len);
	s->adler = (uint32_t)adler32_z(s->adler, bytes, len);
}

static inline uint64_t lz_flow_sum_value(const struct lz_flow_sum *s)
{
	return (uint64_t)s->adler << 32 | s->crc;
}

#endif
