/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The length of a block is in front of it, as glibc has it: that of a chunk with all that belongs to it, and three
 * flags in the low bits. */
#include "replayer/origin/allocation.h"
#include "replayer/origin/own_stops.h"
#include "replayer/origin/return_place.h"
#include <lizard/error.h>

enum { WORD = 8, FLAGS = 7, MAPPED = 2, LARGEST_SHIFT = 46 };

static bool block_of(struct lz_arrival *a, struct lz_block *b)
{
	struct user_regs_struct r;
	uint64_t size;

	if (lz_arrival_regs(a, &r) < 0 || !r.rax || r.rax % (2 * WORD) ||
	    lz_arrival_read(a, r.rax - WORD, &size, sizeof size) < sizeof size)
		return false;
	/* the word of the next chunk that is this one's as well, unless the block has a mapping of its own */
	const uint64_t own = size & MAPPED ? 2 * WORD : WORD;
	size &= ~(uint64_t)FLAGS;
	if (size <= own || size >> LARGEST_SHIFT)
		return false;
	*b = (struct lz_block){r.rax, size - own};
	return true;
}

static bool gives(void *arg, uint64_t addr, struct lz_arrival *a)
{
	const struct lz_allocation_query *q = arg;
	struct lz_block b;

	(void)addr;
	return block_of(a, &b) && q->addr - b.addr < b.len;
}

static int run(struct lz_session *s, const struct lz_allocation_query *q)
{
	struct lz_stop stop;

	for (size_t i = 0; i < q->n_returns; i++)
		if (lz_own_break(s, q->returns[i], gives, (void *)(uintptr_t)q) < 0)
			return -1;
	if (lz_session_run(s, LZ_BACKWARD, &stop) < 0)
		return -1;
	switch (stop.reason) {
	case LZ_STOP_BREAKPOINT: return 0;
	case LZ_STOP_INTERRUPTED: return LZ_ACCESS_INTERRUPTED;
	case LZ_STOP_DIVERGED: return lz_fail("replay diverged");
	default: return LZ_ACCESS_NONE;
	}
}

int lz_allocation_go(struct lz_session *s, const struct lz_allocation_query *q, struct lz_block *b)
{
	struct lz_own_stops users;
	struct lz_return_place here;

	lz_session_begin(s);
	if (lz_return_keep(s, &here) < 0)
		return -1;
	lz_own_stops_begin(s, &users);
	s->not_before = (struct lz_gap_start){q->from.event, q->from.marker};
	s->nested++;
	int ret = run(s, q);
	s->nested--;
	s->not_before = (struct lz_gap_start){0};
	lz_own_stops_end(s, &users);
	if (!ret && !block_of((struct lz_arrival *)s->e, b))
		ret = lz_fail("malloc() is not where it was said to be");
	if (ret && lz_return_to(s, &here) < 0)
		ret = -1;
	lz_return_drop(&here);
	return ret;
}
