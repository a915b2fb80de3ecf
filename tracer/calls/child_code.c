/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a child in the program's memory (vfork) has stored where writes are not tracked, as the program
 * cannot write there: the child has made it writable, and has protected it again. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct page {
	uint64_t at;
	uint8_t bytes[LZ_PAGE];
};

/* The program's own ones, by address. One child at a time has the program's memory. */
static struct {
	struct page *v;
	size_t n, room;
	bool on;
} before;

/* These are others by now. */
static struct {
	uint64_t *at;
	size_t n, room;
} changed;

static bool is_untracked(const struct lz_area *a)
{
	return !a->armed && !(a->v.prot & PROT_WRITE) && !(a->v.flags & MAP_SHARED) &&
	       a->v.role != LZ_VMA_BUFFER;
}

/* Areas that adjoin each other are looked through at once. */
static int each_page(struct lz_tracer *t, int (*fn)(void *t, uint64_t addr))
{
	uint64_t start = 0, end = 0;

	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];

		if (!is_untracked(a))
			continue;
		if (a->v.start != end) {
			if (lz_dirty_each_own(t, start, end, fn) < 0)
				return -1;
			start = a->v.start;
		}
		end = a->v.end;
	}
	return lz_dirty_each_own(t, start, end, fn);
}

static int note(void *arg, uint64_t addr)
{
	const struct lz_tracer *t = arg;

	if (lz_reserve(before.v, before.room, before.n + 1) < 0)
		return lz_fail("out of memory for pages of code");
	struct page *p = &before.v[before.n++];
	p->at = addr;
	return lz_proc_read(&t->p, addr, p->bytes, LZ_PAGE);
}

int lz_child_code_before(struct lz_tracer *t)
{
	before.n = 0;
	before.on = !lz_pages_compared(t);
	return before.on ? each_page(t, note) : 0;
}

/* ---- afterwards ---- */

static int by_address(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int compare(void *arg, uint64_t addr)
{
	const struct lz_tracer *t = arg;
	struct page now = {.at = addr};
	const struct page *was =
	    before.n ? bsearch(&now, before.v, before.n, sizeof(now), by_address) : NULL;

	if (lz_proc_read(&t->p, addr, now.bytes, LZ_PAGE) < 0)
		return -1;
	if (was && memcmp(was->bytes, now.bytes, LZ_PAGE) == 0)
		return 0;
	if (lz_reserve(changed.at, changed.room, changed.n + 1) < 0)
		return lz_fail("out of memory for pages of code");
	changed.at[changed.n++] = addr;
	return 0;
}

/* As if the program had done it. */
static int log_page(struct lz_tracer *t, uint64_t at)
{
	const ptrdiff_t i = lz_vmas_find(&t->vmas, at);
	const uint32_t prot = i < 0 ? 0 : t->vmas.a[i].v.prot;

	if (lz_map_protected(t, at, at + LZ_PAGE, prot | PROT_WRITE) < 0 ||
	    lz_map_protected(t, at, at + LZ_PAGE, prot) < 0)
		return -1;
	return lz_build_read(t, at, LZ_PAGE);
}

int lz_child_code_log(struct lz_tracer *t)
{
	if (!before.on)
		return 0;
	before.on = false;
	changed.n = 0;
	if (each_page(t, compare) < 0)
		return -1;
	for (size_t i = 0; i < changed.n; i++)
		if (log_page(t, changed.at[i]) < 0)
			return -1;
	return 0;
}
