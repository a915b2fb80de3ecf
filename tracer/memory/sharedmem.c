/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that changes although the program does not store to it: a file that is written, cut or
 * extended while it is mapped, memory that others share, and the second mapping of what is
 * stored to through the first. What changed is logged with the system call that follows the
 * change, or made it. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/shared_lock_page.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 64 };

/* ---- pages ---- */

/* Part of a page is logged. What a private mapping shows of its file is no page of the program's
 * own that tracking would find: from now on checkpoints look at it. */
static int log_bytes(struct lz_tracer *t, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, addr);

	if (i >= 0 && lz_alias_shows(t, &t->vmas.a[i], addr)) /* logged there */
		return 0;
	if (lz_build_write(t, addr, bytes, len) < 0)
		return -1;
	if (i < 0 || t->vmas.a[i].v.flags & MAP_SHARED)
		return 0;
	t->vmas.a[i].follows = true;
	return lz_pages_changed(t, lz_page_down(addr), lz_page_down(addr) + LZ_PAGE);
}

int lz_shared_log(struct lz_tracer *t, uint64_t from, uint64_t to)
{
	uint8_t page[LZ_PAGE];

	for (uint64_t at = from; at < to; at += LZ_PAGE)
		if (lz_proc_read_some(&t->p, at, page, LZ_PAGE) == LZ_PAGE &&
		    log_bytes(t, at, page, LZ_PAGE) < 0)
			return -1;
	return lz_pages_changed(t, from, to);
}

/* Calls FN for each page that can be read in the area. */
static int each_page(struct lz_tracer *t, const struct lz_vma *v,
                     int (*fn)(struct lz_tracer *t, uint64_t addr, const uint8_t *page, void *arg),
                     void *arg)
{
	static uint8_t batch[BATCH * LZ_PAGE];

	for (uint64_t at = v->start, n; at < v->end; at += n) {
		n = v->end - at < sizeof(batch) ? v->end - at : sizeof(batch);
		if (lz_proc_read(&t->p, at, batch, n) < 0 &&
		    lz_proc_read_some(&t->p, at, batch, n = LZ_PAGE) != LZ_PAGE)
			continue;
		for (uint64_t i = 0; i < n; i += LZ_PAGE)
			if (fn(t, at + i, batch + i, arg) < 0)
				return -1;
	}
	return 0;
}

/* ---- files that are written ---- */

/* The part of area A that maps [FROM, TO) of its object. */
static bool part_of(const struct lz_area *a, uint64_t from, uint64_t to, uint64_t *start,
                    uint64_t *end)
{
	uint64_t a_end = a->object_at + (a->v.end - a->v.start);

	from = from > a->object_at ? from : a->object_at;
	to = to < a_end ? to : a_end;
	*start = a->v.start + (from - a->object_at);
	*end = a->v.start + (to - a->object_at);
	return from < to;
}

int lz_shared_log_object(struct lz_tracer *t, uint32_t object, struct lz_written w)
{
	uint64_t from, to;

	if (w.from >= w.to)
		return 0;
	w.from = lz_page_down(w.from);
	w.to = w.to > UINT64_MAX - LZ_PAGE ? w.to : lz_page_up(w.to);
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area a = t->vmas.a[i];
		if (a.object == object && part_of(&a, w.from, w.to, &from, &to) &&
		    lz_shared_log(t, from, to) < 0)
			return -1;
	}
	return 0;
}

/* ---- files that become shorter or longer ---- */

/* Replay maps [FROM, TO) anew: beyond the end of the file's copy, where an access ends in SIGBUS
 * as it does now, or as memory that is the program's own. */
static int mapped_anew(struct lz_tracer *t, const struct lz_area *old, uint64_t from, uint64_t to,
                       const struct lz_object *o, bool beyond)
{
	struct lz_area a = *old;

	a.object_at += from - a.v.start;
	a.v.start = from;
	a.v.end = to;
	lz_alias_number(&a, 0);
	a.v.file = beyond ? o->file : LZ_NO_FILE;
	a.v.offset = beyond ? o->file_end : 0;
	return lz_map_op(t, &a);
}

int lz_shared_resize(struct lz_tracer *t, uint32_t object, uint64_t size)
{
	struct lz_object *o = lz_object(t, object);
	uint64_t before = lz_page_up(o->size), now = lz_page_up(size), from, to;
	bool shorter = size < o->size;

	if (o->size == size)
		return 0;
	o->size = size;
	o->stale = true;
	for (size_t i = 0; i < t->vmas.n && before != now; i++) {
		struct lz_area a = t->vmas.a[i];
		if (a.object != object ||
		    !part_of(&a, shorter ? now : before, shorter ? before : now, &from, &to))
			continue;
		if (mapped_anew(t, &a, from, to, o, shorter) < 0)
			return -1;
		i = lz_vmas_from(&t->vmas, to - 1);
	}
	if (lz_alias_find(t, object, true) < 0)
		return -1;
	if (!shorter && lz_shared_log_object(t, object, (struct lz_written){before, now}) < 0)
		return -1;
	/* The rest of the last page has become zeroes. */
	return shorter && size % LZ_PAGE
	           ? lz_shared_log_object(t, object, (struct lz_written){size, size + 1})
	           : 0;
}

/* ---- memory shared with others ---- */

/* Behind the page's bytes: is it to be logged whole? */
enum { UNSURE = LZ_PAGE, SEEN_SIZE };

static uint8_t *seen_page(struct lz_tracer *t, uint64_t addr)
{
	uint8_t **seen = lz_pagemap_at(&t->shared->seen, addr);

	if (!seen || (!*seen && !(*seen = calloc(1, SEEN_SIZE)))) {
		lz_fail("out of memory for shared pages");
		return NULL;
	}
	return *seen;
}

static int sync_page(struct lz_tracer *t, uint64_t addr, const uint8_t *now, void *arg)
{
	uint8_t *seen = seen_page(t, addr);
	uint32_t from = 0, to = LZ_PAGE;

	(void)arg;
	if (!seen)
		return -1;
	bool unsure = seen[UNSURE];
	if (!unsure && memcmp(seen, now, LZ_PAGE) == 0)
		return 0;
	while (!unsure && seen[from] == now[from])
		from++;
	while (!unsure && seen[to - 1] == now[to - 1])
		to--;
	memcpy(seen, now, LZ_PAGE);
	seen[UNSURE] = false;
	return log_bytes(t, addr + from, now + from, to - from);
}

/* What is new is the program's own, or the kernel has stored it meanwhile for a call of another
 * process. */
static int refresh_page(struct lz_tracer *t, uint64_t addr, const uint8_t *now, void *arg)
{
	uint8_t *seen = seen_page(t, addr);

	(void)arg;
	if (!seen)
		return -1;
	if (memcmp(seen, now, LZ_PAGE) == 0)
		return 0;
	memcpy(seen, now, LZ_PAGE);
	seen[UNSURE] = true;
	return 0;
}

static bool is_compared(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	return a->v.role != LZ_VMA_BUFFER &&
	       (lz_is_shared_with_others(t, a) || lz_shared_lock_for(t, a) || (o && o->watched));
}

/* Others may have written there since the last call: what differs is logged, the program's own
 * stores with it, which does no harm. */
int lz_shared_sync(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area a = t->vmas.a[i];
		if (is_compared(t, &a) && each_page(t, &a.v, sync_page, NULL) < 0)
			return -1;
	}
	t->shared->settled = true;
	t->shared_lock.news = false;
	return 0;
}

int lz_shared_refresh(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area a = t->vmas.a[i];
		if (is_compared(t, &a) && each_page(t, &a.v, refresh_page, NULL) < 0)
			return -1;
	}
	return 0;
}

bool lz_shared_by_others(const struct lz_tracer *t)
{
	const struct lz_shared *s = t->shared;

	return s && (s->watching || (t->has_children && t->n_shared) || lz_shared_lock_needed(t));
}

void lz_shared_unsettle(struct lz_tracer *t)
{
	if (t->shared)
		t->shared->settled = false;
}

void lz_shared_show(const struct lz_tracer *t, uint64_t addr, uint8_t *page)
{
	ptrdiff_t i = t->shared && t->shared->settled ? lz_vmas_find(&t->vmas, addr) : -1;
	const uint8_t *seen =
	    i >= 0 && is_compared(t, &t->vmas.a[i]) ? lz_pagemap_get(&t->shared->seen, addr) : NULL;

	if (seen)
		memcpy(page, seen, LZ_PAGE);
}

/* ---- a new mapping ---- */

/* Its copy was made for an earlier mapping. */
static int differs_from_copy(struct lz_tracer *t, uint64_t addr, const uint8_t *now, void *arg)
{
	const struct {
		const struct lz_area *a;
		int fd;
	} *c = arg;
	uint8_t then[LZ_PAGE] = {0};
	off_t at = (off_t)(c->a->object_at + (addr - c->a->v.start));

	if (c->fd >= 0 && pread(c->fd, then, sizeof(then), at) < 0)
		return lz_fail_errno("cannot read the copy of a mapped file");
	return memcmp(then, now, LZ_PAGE) ? log_bytes(t, addr, now, LZ_PAGE) : 0;
}

/* FILE: its copy, or LZ_NO_FILE. */
static int log_difference(struct lz_tracer *t, const struct lz_area *a, uint32_t file)
{
	struct {
		const struct lz_area *a;
		int fd;
	} c = {a, -1};

	if (file != LZ_NO_FILE && (c.fd = lz_writer_file_open(t->w, file)) < 0)
		return -1;
	int ret = each_page(t, &a->v, differs_from_copy, &c);
	if (c.fd >= 0)
		close(c.fd);
	return ret;
}

int lz_shared_mapped(struct lz_tracer *t, const struct lz_area *a)
{
	struct lz_object *o = lz_object(t, a->object);
	bool shared = a->v.flags & MAP_SHARED;

	t->n_shared += shared;
	if (shared && !lz_shared_of(t))
		return -1;
	if (!o)
		return 0;
	if (lz_alias_find(t, a->object, true) < 0)
		return -1;
	if ((o->again || o->segment) && log_difference(t, a, o->segment ? LZ_NO_FILE : o->file) < 0)
		return -1;
	if (shared) {
		o->stale = true;
		lz_outside_watch(t, o);
	} else if (!o->segment) {
		lz_outside_watch_private(t, o);
	}
	return 0;
}

int lz_private_changed(struct lz_tracer *t, uint32_t object)
{
	lz_object(t, object)->stale = true;
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area a = t->vmas.a[i];
		if (a.object == object && !(a.v.flags & MAP_SHARED) &&
		    log_difference(t, &a, a.v.file) < 0)
			return -1;
	}
	return 0;
}

static int grown_by(struct lz_tracer *t, const struct lz_area *a, uint64_t from, uint64_t to,
                    const struct lz_object *o, bool beyond)
{
	uint64_t start, end;

	return part_of(a, from, to, &start, &end) ? mapped_anew(t, a, start, end, o, beyond) : 0;
}

int lz_shared_grown(struct lz_tracer *t, struct lz_area *a)
{
	struct lz_object *o = lz_object(t, a->object);
	uint64_t now = lz_page_up(o->size), copied = now < o->file_end ? now : o->file_end;
	struct lz_area of_copy;
	uint64_t start, end;

	lz_alias_number(a, 0);
	if (lz_vmas_add(&t->vmas, a) < 0)
		return -1;
	bool has_copy = part_of(a, 0, copied, &start, &end);
	if (has_copy) {
		of_copy = *a;
		of_copy.v.end = end;
		of_copy.v.file = o->file;
		of_copy.v.offset = a->object_at;
		if (lz_map_op(t, &of_copy) < 0)
			return -1;
	}
	if (grown_by(t, a, copied, now, o, false) < 0 ||
	    grown_by(t, a, now, UINT64_MAX, o, true) < 0 || lz_alias_find(t, a->object, true) < 0)
		return -1;
	if (part_of(a, copied, now, &start, &end) && lz_shared_log(t, start, end) < 0)
		return -1;
	return has_copy ? log_difference(t, &of_copy, o->file) : 0;
}

int lz_shared_again(struct lz_tracer *t, struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	lz_alias_number(a, 0);
	if (o && !o->segment) {
		t->n_shared++;
		return lz_shared_grown(t, a);
	}
	if (lz_map_op(t, a) < 0 || lz_shared_mapped(t, a) < 0)
		return -1;
	return o ? 0 : lz_shared_log(t, a->v.start, a->v.end);
}

void lz_shared_forget(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	t->n_shared = 0;
	t->has_children = false;
	if (!s)
		return;
	for (size_t i = 0; i < s->seen.cap; i++)
		free(s->seen.slot[i].page);
	lz_pagemap_free(&s->seen);
	memset(s->fd, LZ_FD_UNKNOWN, sizeof(s->fd));
	for (uint32_t i = 1; i < s->n_objects; i++) {
		s->object[i].watched = s->object[i].shared = s->object[i].with_others = false;
		s->object[i].inotify = 0;
	}
	s->watching = s->segments = false;
	s->n_unrecorded = 0;
	lz_shared_with_others_forget(s);
	if (s->inotify >= 0)
		close(s->inotify);
	s->inotify = -1;
}
