/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings in the stub: which of them it may change. */
#ifndef LIZARD_TRACER_STUB_MAPS_H
#define LIZARD_TRACER_STUB_MAPS_H

#include "tracer/stub/stub.h"

/* Is it all plain memory? The kernel refuses what does not begin with a page. */
INLINE bool is_plain(const struct lz_call_page *p, uint64_t start, uint64_t len)
{
	const uint64_t end = start + ((len + 4095) & ~4095ULL);

	for (uint32_t i = 0; i < p->n_plain && i < LZ_PLAIN_RANGES; i++)
		if (start >= p->plain[i].start && end <= p->plain[i].end)
			return start % 4096 == 0 && start < end;
	return false;
}

/* Does the call change nothing but memory that the tracer knows to be the program's own? */
INLINE bool is_own_map(const struct lz_call_page *p, uint8_t rule, const uint64_t *args)
{
	switch (rule) {
	case LZ_RULE_BRK: return args[0] && args[0] >= p->brk_least;
	case LZ_RULE_MADVISE: return is_plain(p, args[0], args[1]);
	default: return false;
	}
}

#endif
