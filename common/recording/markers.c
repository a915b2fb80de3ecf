/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/recording/markers.h>
#include <lizard/marker.h>
#include <emmintrin.h>
#include <string.h>

/* A bit for each of the 16 bytes at P that is not, as a code byte, a marker of one byte. */
static uint64_t long_or_none16(const uint8_t *p)
{
	__m128i b = _mm_loadu_si128((const __m128i *)p);
	__m128i none = _mm_cmpeq_epi8(b, _mm_setzero_si128());
	__m128i escape =
	    _mm_cmpeq_epi8(_mm_subs_epu8(_mm_set1_epi8((char)LZ_WIDE), b), _mm_setzero_si128());
	__m128i exits = _mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8((char)LZ_EXIT)),
	                             _mm_cmpeq_epi8(b, _mm_set1_epi8((char)LZ_TAIL)));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(none, _mm_andnot_si128(exits, escape)));
}

enum { WINDOW = 64 };

static uint64_t long_or_none(const uint8_t *p)
{
	uint64_t mask = 0;

	_Static_assert(LZ_EDGE_MAX + 1 == LZ_WIDE, "all codes from WIDE on are escapes");
	for (int i = 0; i < WINDOW / 16; i++)
		mask |= long_or_none16(p + 16 * i) << 16 * i;
	return mask;
}

/* Parses from FROM to behind the first marker that ends behind the window, or to what is no marker.
 * The way through is a chain of additions only, since the branches on the size are guessed right
 * mostly: marker by marker, the next one's load waited for the last one's size, and parsing took as
 * long as compressing. */
static uint32_t through_window(const uint8_t *mem, uint32_t from)
{
	uint64_t stops = long_or_none(mem + from);
	unsigned at = 0;

	while (at < WINDOW && stops >> at) {
		at += (unsigned)__builtin_ctzll(stops >> at);
		unsigned size = lz_marker_size(mem[from + at]);
		if (!size)
			return from + at;
		at += size;
	}
	return from + (at < WINDOW ? WINDOW : at);
}

uint32_t lz_markers_end(const uint8_t *mem, uint32_t from, uint32_t limit)
{
	while (limit - from >= WINDOW + LZ_MARKER_MAX_SIZE) {
		uint32_t end = through_window(mem, from);

		if (end - from < WINDOW)
			return end;
		from = end;
	}
	while (from < limit) {
		unsigned size = lz_marker_size(mem[from]);

		if (!size || size > limit - from)
			break;
		from += size;
	}
	return from;
}
