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

/* lz_marker_size() as a table: the branches of a switch are guessed wrong all the time. */
static const uint8_t size_of[256] = {
    [1 ... LZ_EDGE_MAX] = 1, [LZ_WIDE] = 3, [LZ_WIDE32] = 5,  [LZ_ENTER] = 5,
    [LZ_EXIT] = 1,           [LZ_TAIL] = 1, [LZ_LANDING] = 9,
};
enum { STEPS = 12 };

uint32_t lz_markers_end(const uint8_t *mem, uint32_t from, uint32_t limit)
{
	_Static_assert(LZ_EDGE_MAX == 0xEF, "escapes are the codes with the upper four bits set");
	while (limit - from >= STEPS * LZ_MARKER_MAX_SIZE) {
		if (leading_edges(mem + from) == 8) {
			from += 8;
			continue;
		}
		uint32_t before = from;
		for (int i = 0; i < STEPS; i++)
			from += size_of[mem[from]];
		if (from == before || !size_of[mem[from]])
			break;
	}
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
