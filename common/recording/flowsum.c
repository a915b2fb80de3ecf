/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <libdeflate.h>
#include <common/recording/flowsum.h>
#include <xxh_x86dispatch.h>
#include <zlib.h>

void lz_flow_sum_begin(struct lz_flow_sum *s, enum lz_sum_kind kind)
{
	s->kind = kind;
	s->crc = 0;
	s->adler = 1;
	if (kind == LZ_SUM_XXH64)
		XXH64_reset(&s->xxh64, 0);
	else if (kind == LZ_SUM_XXH3)
		XXH3_64bits_reset(&s->xxh3);
}

void lz_flow_sum_add(struct lz_flow_sum *s, const uint8_t *bytes, size_t len)
{
	switch (s->kind) {
	case LZ_SUM_XXH3: XXH3_64bits_update(&s->xxh3, bytes, len); break;
	case LZ_SUM_XXH64: XXH64_update(&s->xxh64, bytes, len); break;
	case LZ_SUM_CRC_ADLER:
		s->crc = libdeflate_crc32(s->crc, bytes, len);
		s->adler = (uint32_t)adler32_z(s->adler, bytes, len);
	}
}

uint64_t lz_flow_sum_value(const struct lz_flow_sum *s)
{
	switch (s->kind) {
	case LZ_SUM_XXH3: return XXH3_64bits_digest(&s->xxh3);
	case LZ_SUM_XXH64: return XXH64_digest(&s->xxh64);
	case LZ_SUM_CRC_ADLER: break;
	}
	return (uint64_t)s->adler << 32 | s->crc;
}

uint64_t lz_flow_sum_of(const uint8_t *bytes, size_t len)
{
	return XXH3_64bits(bytes, len);
}
