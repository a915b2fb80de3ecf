/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes are a polynomial, of which the sum is the remainder by P, x^32 + x^26 + ... + 1.
 *
 * A block of 16 bytes that is N bits in front of another one is H * x^(N + 64) + L * x^N. Both powers
 * are replaced by their remainders, which have 32 bits, so the products fit into the other block. In
 * the end there is one block, of which zlib knows the sum. */
#include <common/base/crc32.h>

#include <emmintrin.h>
#include <sys/platform/x86.h>
#include <wmmintrin.h>
#include <zlib.h>

enum { BLOCK = 16, AT_ONCE = 4, MANY = AT_ONCE * BLOCK, WORTH_IT = 2 * MANY };

/* The bits of a byte come lowest first, so all is mirrored: a remainder is the mirrored one of
 * x^(N + 32) and of x^(N - 32), one bit further up. N is 512 and 128. */
static const uint64_t far[2] = {0x154442bd4, 0x1c6e41596}, near[2] = {0x1751997d0, 0x0ccaa009e};

#define CARRYLESS __attribute__((target("pclmul")))

CARRYLESS static inline __m128i load(const void *at)
{
	return _mm_loadu_si128(at);
}

/* Block X becomes a part of block TO. */
CARRYLESS static inline __m128i fold(__m128i x, __m128i by, __m128i to)
{
	return _mm_xor_si128(to, _mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00),
	                                       _mm_clmulepi64_si128(x, by, 0x11)));
}

/* Of N bytes, WORTH_IT at least. */
CARRYLESS static uint32_t by_blocks(uint32_t crc, const uint8_t *p, size_t n)
{
	const __m128i by_far = load(far), by_near = load(near);
	__m128i x[AT_ONCE];
	uint8_t last[BLOCK];

	for (int i = 0; i < AT_ONCE; i++)
		x[i] = load(p + i * BLOCK);
	x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)~crc));
	for (p += MANY, n -= MANY; n >= MANY; p += MANY, n -= MANY)
		for (int i = 0; i < AT_ONCE; i++)
			x[i] = fold(x[i], by_far, load(p + i * BLOCK));
	for (int i = 1; i < AT_ONCE; i++)
		x[i] = fold(x[i - 1], by_near, x[i]);
	__m128i all = x[AT_ONCE - 1];
	for (; n >= BLOCK; p += BLOCK, n -= BLOCK)
		all = fold(all, by_near, load(p));
	_mm_storeu_si128((__m128i *)last, all);
	/* the sum so far is in the block already */
	return (uint32_t)crc32_z(crc32_z(UINT32_MAX, last, BLOCK), p, n);
}

uint32_t lz_crc32(uint32_t crc, const void *bytes, size_t n)
{
	if (n >= WORTH_IT && CPU_FEATURE_ACTIVE(PCLMULQDQ))
		return by_blocks(crc, bytes, n);
	return (uint32_t)crc32_z(crc, bytes, n);
}
