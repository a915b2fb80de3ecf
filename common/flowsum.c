/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/flowsum.h>
#include <zlib.h>

void lz_flow_sum_begin(struct lz_flow_sum *s, enum lz_sum_kind kind)
{
	s->kind = kind;
	s->crc = 0;
	s->adler = 1;
	XXH64_reset(&s->xxh, 0);
}

void lz_flow_sum_add(struct lz_flow_sum *s, const uint8_t *bytes, size_t len)
{
	if (s->kind == LZ_SUM_XXH64) {
		XXH64_update(&s->xxh, bytes, len);
		return;
	}
	s->crc = (uint32_t)crc32_z(s->crc, bytes, len);
	s->adler = (uint32_t)adler32_z(s->adler, bytes, len);
}

uint64_t lz_flow_sum_value(const struct lz_flow_sum *s)
{
	return s->kind == LZ_SUM_XXH64 ? XXH64_digest(&s->xxh) : (uint64_t)s->adler << 32 | s->crc;
}

uint64_t lz_flow_sum_of(const uint8_t *bytes, size_t len)
{
	return XXH64(bytes, len, 0);
}
