/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a child in the program's memory (vfork) has mapped, unmapped and protected. It runs without
 * stops: its mappings before and after are compared, and the difference belongs to the call that
 * made it. */
#include "tracer/calls/calls.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct mapping {
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	uint32_t prot;
	bool shared;
};

/* Before. One child at a time has the program's memory. */
static struct {
	struct mapping *v;
	size_t n;
} before;

static int note(void *arg, const struct lz_maps_entry *e)
{
	(void)arg;
	if (lz_extend(before.v, before.n) < 0)
		return lz_fail("out of memory for the list of mappings");
	before.v[before.n++] = (struct mapping){e->start,     e->end,       e->offset, e->inode,
	                                        e->dev_major, e->dev_minor, e->prot,   e->shared};
	return 0;
}

int lz_child_maps_before(struct lz_tracer *t)
{
	before.n = 0;
	return lz_proc_maps(t->p.pid, note, NULL) < 0 ? -1 : 0;
}

/* ---- afterwards ---- */

struct sweep {
	struct lz_tracer *t;
	uint64_t at; /* compared up to there */
	size_t i;    /* in what was before */
	bool changed;
};

/* The next one, or that at which it is; NULL: none. */
static const struct mapping *next(struct sweep *s)
{
	while (s->i < before.n && before.v[s->i].end <= s->at)
		s->i++;
	return s->i < before.n ? &before.v[s->i] : NULL;
}

static bool is_same(const struct mapping *b, const struct lz_maps_entry *e)
{
	return b->inode == e->inode && b->major == e->dev_major && b->minor == e->dev_minor &&
	       b->shared == e->shared &&
	       (!e->inode || b->offset - b->start == e->offset - e->start);
}

static int log_own_page(void *t, uint64_t addr)
{
	return lz_build_read(t, addr, LZ_PAGE);
}

static int code_mapped(struct lz_tracer *t, const struct lz_area *a)
{
	if (lz_cpuid_mapped(t, &a->v, true) < 0)
		return -1;
	if (a->v.file == LZ_NO_FILE)
		return 0;
	return lz_random_mapped(t, &a->v, true) < 0 ? -1 : lz_wide_mapped(t, a);
}

static int mapped(struct lz_tracer *t, const struct lz_maps_entry *e, uint64_t start, uint64_t end)
{
	struct lz_maps_entry part = *e;
	struct lz_area a;

	part.start = start;
	part.end = end;
	part.offset += start - e->start;
	if (lz_map_removed(t, start, end) < 0 || lz_area_of(t, &part, &a) < 0 ||
	    lz_map_op(t, &a) < 0 || code_mapped(t, &a) < 0 || lz_shared_mapped(t, &a) < 0)
		return -1;
	return e->shared ? lz_shared_log(t, start, end)
	                 : lz_dirty_each_own(t, start, end, log_own_page);
}

static int unmapped(struct sweep *s, uint64_t end)
{
	for (const struct mapping *b; s->at < end && (b = next(s)) && b->start < end;) {
		uint64_t start = b->start > s->at ? b->start : s->at;

		s->at = b->end < end ? b->end : end;
		s->changed = true;
		if (lz_map_removed(s->t, start, s->at) < 0)
			return -1;
	}
	s->at = end;
	return 0;
}

static int compare(struct sweep *s, const struct lz_maps_entry *e, const struct mapping *b,
                   uint64_t end)
{
	uint64_t start = s->at;

	s->at = end;
	if (b && is_same(b, e) && b->prot == e->prot)
		return 0;
	s->changed = true;
	if (!b || !is_same(b, e))
		return mapped(s->t, e, start, end);
	if (lz_map_protected(s->t, start, end, e->prot) < 0)
		return -1;
	return e->shared ? 0 : lz_dirty_each_own(s->t, start, end, log_own_page);
}

static int is_now(void *arg, const struct lz_maps_entry *e)
{
	struct sweep *s = arg;

	if (unmapped(s, e->start) < 0)
		return -1;
	while (s->at < e->end) {
		const struct mapping *b = next(s);
		bool in = b && b->start <= s->at;
		uint64_t end = in ? b->end : b ? b->start : e->end;

		if (strcmp(e->path, "[stack]") == 0) /* it grows by itself */
			s->at = e->end;
		else if (compare(s, e, in ? b : NULL, end < e->end ? end : e->end) < 0)
			return -1;
	}
	return 0;
}

int lz_child_maps_log(struct lz_tracer *t)
{
	struct sweep s = {.t = t};
	int64_t brk;

	if (!before.n)
		return 0;
	int ret = lz_proc_maps(t->p.pid, is_now, &s) < 0 || unmapped(&s, UINT64_MAX) < 0 ? -1 : 0;
	before.n = 0;
	if (ret < 0 || !s.changed)
		return ret;
	if (lz_proc_syscall(&t->p, &brk, SYS_brk, 0, 0, 0, 0, 0, 0) < 0)
		return -1;
	t->brk = (uint64_t)brk;
	return 0;
}
