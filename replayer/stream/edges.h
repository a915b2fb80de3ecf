/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markers of one byte, which is most of a stream. */
#ifndef LIZARD_REPLAYER_EDGES_H
#define LIZARD_REPLAYER_EDGES_H

#include <emmintrin.h>
#include <lizard/marker.h>
#include <stdint.h>

/* How many of the next 16 bytes are markers of one byte, up to the first that is none. */
static inline unsigned lz_count_edges(const uint8_t *p)
{
	const __m128i first = _mm_set1_epi8((char)(LZ_EDGE_MAX + 1));
	__m128i x = _mm_loadu_si128((const __m128i *)p);
	__m128i other = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_setzero_si128()),
	                             _mm_cmpeq_epi8(_mm_max_epu8(x, first), x));
	unsigned mask = (unsigned)_mm_movemask_epi8(other);

	return mask ? (unsigned)__builtin_ctz(mask) : 16;
}

#endif
