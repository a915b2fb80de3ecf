/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an xsavec has stored, told by the header that it leaves (Intel SDM volume 1, sections 13.4 and
 * 13.10). Also for code that is compiled without a library. */
#ifndef LIZARD_XSAVE_PARTS_H
#define LIZARD_XSAVE_PARTS_H

#include <lizard/xsavec.h>

enum { LZ_XSAVE_HEADER = 512, LZ_XSAVE_EXTENDED = 576, LZ_XSAVE_COMPONENTS = 63 };

/* A component of the compacted form; size 0: this processor has none of that number. */
struct lz_xsave_component {
	uint32_t size, aligned;
};

/* STORED, ALL: the header's two words. PART has room for LZ_XSAVEC_PARTS. How many there are, from the
 * lowest on. MXCSR is among them whenever it may have been stored. */
static inline __attribute__((always_inline)) uint32_t
lz_xsave_parts(const struct lz_xsave_component *c, uint64_t stored, uint64_t all,
               struct lz_xsavec_part *part)
{
	enum { X87 = 1, SSE = 2, AVX = 4, MXCSR_AT = 24, ST_AT = 32, XMM_AT = 160, XMM_END = 416 };
	uint32_t n = 0, at = LZ_XSAVE_EXTENDED;

	if (stored & X87)
		part[n++] = (struct lz_xsavec_part){0, MXCSR_AT};
	if (all & (SSE | AVX))
		part[n++] = (struct lz_xsavec_part){MXCSR_AT, ST_AT - MXCSR_AT};
	if (stored & X87)
		part[n++] = (struct lz_xsavec_part){ST_AT, XMM_AT - ST_AT};
	if (stored & SSE)
		part[n++] = (struct lz_xsavec_part){XMM_AT, XMM_END - XMM_AT};
	part[n++] = (struct lz_xsavec_part){LZ_XSAVE_HEADER, 16};
	for (uint32_t i = 2; i < LZ_XSAVE_COMPONENTS; i++) {
		if (!(all >> i & 1))
			continue;
		if (c[i].aligned)
			at = (at + 63) & ~63u;
		if (stored >> i & 1)
			part[n++] = (struct lz_xsavec_part){at, c[i].size};
		at += c[i].size;
	}
	return n;
}

#endif
