#include <common/markers.h>
#include <lizard/marker.h>
#include <string.h>

#define EACH_BYTE(b) ((b)*0x0101010101010101u)

/* How many of the eight bytes at P, from the first one on, are edge codes. A run of 60 KB of markers is
 * parsed while the program waits: byte by byte it cost three quarters of gzip's own run time. */
static unsigned leading_edges(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	uint64_t escape =
	    w & w << 1 & w << 2 & w << 3;        /* the upper four bits of a byte are all set */
	uint64_t zero = (w - EACH_BYTE(1)) & ~w; /* exact up to the first byte that is 0 */
	uint64_t other = (escape | zero) & EACH_BYTE(0x80);
	return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

uint32_t lz_markers_end(const uint8_t *mem, uint32_t from, uint32_t limit)
{
	_Static_assert(LZ_EDGE_MAX == 0xEF, "escapes are the codes with the upper four bits set");
	while (from < limit) {
		if (limit - from >= 8) {
			unsigned n = leading_edges(mem + from);
			from += n;
			if (n == 8)
				continue;
		}
		unsigned size = lz_marker_size(mem[from]);
		if (!size || size > limit - from)
			break;
		from += size;
	}
	return from;
}
