/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the markers' adds wide, so that the pointer does not go round in 64 KiB as it does in a
 * sink: lizard/widen.h. */
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <lizard/error.h>
#include <lizard/slot.h>
#include <lizard/widen.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, MARGIN = LZ_SITE_LEN - 1 };

/* The LEN bytes at ADDR and as many as a marker that lies across an end needs; what cannot be
 * read is zero. */
struct code {
	uint64_t addr;
	size_t len;
	uint8_t bytes[MARGIN + CHUNK + MARGIN];
};

static int widen_at(struct lz_tracer *t, uint64_t at, bool narrow)
{
	static const uint8_t wide = LZ_ADD_WIDE;

	if (lz_places_add(&t->armed.at[LZ_ARMED_ADD], at) < 0)
		return -1;
	return narrow ? lz_build_write(t, at, &wide, sizeof(wide)) : 0;
}

static int widen_code(struct lz_tracer *t, const struct code *c)
{
	size_t len = MARGIN + c->len + MARGIN, at = 0;

	while ((at = lz_widen_next(c->bytes, len, at)) < len) {
		size_t prefix = at + LZ_SITE_PREFIX;

		if (prefix >= MARGIN && prefix < MARGIN + c->len &&
		    widen_at(t, c->addr + prefix - MARGIN, c->bytes[prefix] == LZ_ADD_NARROW) < 0)
			return -1;
		at += LZ_SITE_LEN;
	}
	return 0;
}

static int widen_mapping(struct lz_tracer *t, const struct lz_vma *v, struct code *c)
{
	for (c->addr = v->start; c->addr < v->end; c->addr += c->len) {
		c->len = v->end - c->addr < CHUNK ? v->end - c->addr : CHUNK;
		memset(c->bytes, 0, MARGIN + c->len + MARGIN);
		if (c->addr < MARGIN ||
		    lz_proc_read_some(&t->p, c->addr - MARGIN, c->bytes, MARGIN) < MARGIN)
			memset(c->bytes, 0, MARGIN);
		if (lz_proc_read_some(&t->p, c->addr, c->bytes + MARGIN, c->len + MARGIN) &&
		    widen_code(t, c) < 0)
			return -1;
	}
	return 0;
}

int lz_wide_mapped(struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);
	const struct lz_vma *v = &a->v;

	if (!t->s.mem || !(v->prot & PROT_EXEC) || v->role == LZ_VMA_BUFFER)
		return 0;
	struct code *c = malloc(sizeof(*c));
	if (!c)
		return lz_fail("out of memory for a part of the program's code");
	lz_places_moved(&t->armed.at[LZ_ARMED_ADD], v->start, v->end, 0);
	struct lz_places *all = &t->armed.at[LZ_ARMED_ADD], here = {0};
	size_t had = all->n;
	int ret = widen_mapping(t, v, c);
	free(c);
	if (ret < 0 || all->n == had)
		return ret;
	if (v->flags & MAP_SHARED) {
		lz_fail("it is mapped shared");
		return lz_fail_in("the markers in %s cannot be followed", o ? o->path : "memory");
	}
	here = (struct lz_places){.at = all->at + had, .n = all->n - had};
	lz_places_put(&here, &t->p, LZ_ADD_NARROW, LZ_ADD_WIDE);
	return lz_pages_changed(t, v->start, v->end);
}

/* The slot of the library whose code V shows. 1; 0: it has none. */
static int find_slot(struct lz_tracer *t, const struct lz_vma *v, uint64_t *slot)
{
	char path[64];
	int64_t distance;
	int fd = lz_writer_file_open(t->w, v->file);

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int ret = lz_slot_find(path, v->offset, &distance);
	close(fd);
	*slot = v->start + (uint64_t)(ret == 1 ? distance : 0);
	return ret;
}

static int join(struct lz_tracer *t, uint64_t slot)
{
	const uint64_t page = lz_page_down(slot);
	uint64_t offset;

	if (lz_proc_read(&t->p, slot, &offset, sizeof(offset)) < 0 || !offset ||
	    offset == t->s.pos_off)
		return 0;
	lz_debug("another copy of the runtime: slot %#" PRIx64, slot);
	if (lz_proc_write(&t->p, slot, &t->s.pos_off, sizeof(offset)) < 0 ||
	    lz_build_write(t, slot, &t->s.pos_off, sizeof(offset)) < 0)
		return -1;
	return lz_pages_changed(t, page, page + LZ_PAGE);
}

int lz_wide_join(struct lz_tracer *t, uint32_t file, uint64_t start, uint64_t end)
{
	if (!t->s.mem || file == LZ_NO_FILE)
		return 0;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		uint64_t slot;

		if (v->file != file || !(v->prot & PROT_EXEC))
			continue;
		int ret = find_slot(t, v, &slot);
		if (ret == 1 && slot >= start && slot < end)
			ret = join(t, slot);
		if (ret < 0)
			return -1;
	}
	return 0;
}

int lz_wide_join_all(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;

		if (v->prot & PROT_EXEC && lz_wide_join(t, v->file, 0, UINT64_MAX) < 0)
			return -1;
	}
	return 0;
}

int lz_wide_hello(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area a = t->vmas.a[i];

		if (lz_wide_mapped(t, &a) < 0)
			return -1;
	}
	return lz_wide_join_all(t);
}
