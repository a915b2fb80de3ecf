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
	case LZ_RULE_MMAP: return true;
	default: return is_plain(p, args[0], args[1]);
	}
}

/* One that ends at START, begins at END, or both, becomes longer. */
INLINE void add_plain(struct lz_call_page *p, uint64_t start, uint64_t end)
{
	struct lz_plain_range *before = 0, *behind = 0;

	for (uint32_t i = 0; i < p->n_plain && i < LZ_PLAIN_RANGES; i++) {
		if (p->plain[i].end == start)
			before = &p->plain[i];
		if (p->plain[i].start == end)
			behind = &p->plain[i];
	}
	if (before && behind) {
		before->end = behind->end;
		*behind = p->plain[--p->n_plain];
	} else if (before) {
		before->end = end;
	} else if (behind) {
		behind->start = start;
	} else if (p->n_plain < LZ_PLAIN_RANGES) {
		p->plain[p->n_plain++] = (struct lz_plain_range){start, end};
	}
}

/* All of it is in one. */
INLINE void remove_plain(struct lz_call_page *p, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < p->n_plain && i < LZ_PLAIN_RANGES; i++) {
		struct lz_plain_range *r = &p->plain[i], was = *r;

		if (start < was.start || end > was.end)
			continue;
		*r = p->plain[--p->n_plain];
		if (was.start < start)
			add_plain(p, was.start, start);
		if (end < was.end)
			add_plain(p, end, was.end);
		return;
	}
}

/* What the call has changed of plain memory. */
INLINE void note_map(struct lz_call_page *p, uint8_t rule, const uint64_t *args, int64_t result)
{
	const uint64_t len = (args[1] + 4095) & ~4095ULL;

	if (result < 0)
		return;
	if (rule == LZ_RULE_MMAP)
		add_plain(p, (uint64_t)result, (uint64_t)result + len);
	if (rule == LZ_RULE_MUNMAP)
		remove_plain(p, args[0], args[0] + len);
}

#endif
