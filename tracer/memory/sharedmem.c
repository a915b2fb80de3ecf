/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that changes although the program does not store to it: a file that is written, cut or
 * extended while it is mapped, memory that others share, and the second mapping of what is
 * stored to through the first. What changed is logged with the system call that follows the
 * change, or made it. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* ---- a new mapping ---- */

static bool was_logged(const struct lz_tracer *t, const struct lz_area *a, uint64_t at)
{
	return lz_pagemap_get(&lz_object(t, a->object)->logged, at) != NULL;
}

struct comparison {
	const struct lz_area *a;
	int copy, file; /* descriptors; -1: none */
};

static int page_of(int fd, off_t at, uint8_t *page, const char *what)
{
	memset(page, 0, LZ_PAGE);
	return pread(fd, page, LZ_PAGE, at) < 0 ? lz_fail_errno("cannot read %s", what) : 0;
}

/* Its copy was made for an earlier mapping. A page that was logged since may be as it was then once more. */
static int differs_from_copy(struct lz_tracer *t, uint64_t addr, const uint8_t *now, void *arg)
{
	const struct comparison *c = arg;
	uint8_t then[LZ_PAGE] = {0}, first[LZ_PAGE];
	off_t at = (off_t)(c->a->object_at + (addr - c->a->v.start));

	if (c->copy >= 0 && page_of(c->copy, at, then, "the copy of a mapped file") < 0)
		return -1;
	if (c->file >= 0 && page_of(c->file, at, first, "a mapped file") < 0)
		return -1;
	now = c->file >= 0 ? first : now;
	return memcmp(then, now, LZ_PAGE) || was_logged(t, c->a, (uint64_t)at)
	           ? lz_shared_log_bytes(t, addr, now, LZ_PAGE)
	           : 0;
}

/* COPY: a file of the recording, or LZ_NO_FILE. FILE is what is mapped; -1: memory has what it is. */
static int log_difference(struct lz_tracer *t, const struct lz_area *a, uint32_t copy, int file)
{
	struct comparison c = {a, -1, file};

	if (copy != LZ_NO_FILE && (c.copy = lz_writer_file_open(t->w, copy)) < 0)
		return -1;
	int ret = lz_shared_each_page(t, a, NULL, differs_from_copy, &c);
	if (c.copy >= 0)
		close(c.copy);
	return ret;
}

/* Of a mapping that the tracer is told of later the memory may have been stored to since: then the file that
 * the present call maps; -1: it has not been. */
static int file_stored_over(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_call_page *page = t->fast.page;
	char link[64];

	if (!page || !t->fast.late.on || !page->put_off || !(a->v.prot & PROT_WRITE))
		return -1;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)t->p.pid, (int)t->cur->call.args[4]);
	return open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The copy of what A maps is an older one. */
static int log_newer(struct lz_tracer *t, const struct lz_area *a, const struct lz_object *o)
{
	lz_auto_close int file = o->segment ? -1 : file_stored_over(t, a);

	return log_difference(t, a, o->segment ? LZ_NO_FILE : o->file, file);
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
	if ((o->again || o->segment) && log_newer(t, a, o) < 0)
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
		if (a.object != object || a.v.flags & MAP_SHARED)
			continue;
		/* what is not in the copy of a file may have become zeroes */
		if ((a.small ? lz_shared_log(t, a.v.start, a.v.end)
		             : log_difference(t, &a, a.v.file, -1)) < 0)
			return -1;
	}
	return 0;
}

/* The part of A that maps [FROM, TO) of its object is mapped anew. */
static int grown_by(struct lz_tracer *t, const struct lz_area *a, uint64_t from, uint64_t to,
                    const struct lz_object *o, bool beyond)
{
	uint64_t start, end;

	return part_of(a, from, to, &start, &end) ? mapped_anew(t, a, start, end, o, beyond) : 0;
}

static int log_grown(struct lz_tracer *t, const struct lz_area *a, uint64_t from, uint64_t to)
{
	uint64_t start, end;

	return part_of(a, from, to, &start, &end) ? lz_shared_log(t, start, end) : 0;
}

/* Is some of A in the copy of its file? *OF_COPY: that part, mapped from there. */
static bool copied_part(const struct lz_area *a, const struct lz_object *o, struct lz_extent copied,
                        struct lz_area *of_copy)
{
	uint64_t start, end;

	if (!part_of(a, copied.from, copied.to, &start, &end))
		return false;
	*of_copy = lz_area_part(a, start, end);
	of_copy->v.file = o->file;
	of_copy->v.offset = of_copy->object_at;
	return true;
}

/* What the copy has of the file as it is now. */
static struct lz_extent still_copied(const struct lz_object *o, uint64_t now)
{
	uint64_t end = now < o->file_end ? now : o->file_end;

	return (struct lz_extent){o->copied.from, o->copied.to < end ? o->copied.to : end};
}

int lz_shared_grown(struct lz_tracer *t, struct lz_area *a)
{
	struct lz_object *o = lz_object(t, a->object);
	uint64_t now = lz_page_up(o->size);
	struct lz_extent copied = still_copied(o, now);
	struct lz_area of_copy;

	lz_alias_number(a, 0);
	if (lz_vmas_add(&t->vmas, a) < 0)
		return -1;
	bool has_copy = copied_part(a, o, copied, &of_copy);
	if (has_copy && lz_map_op(t, &of_copy) < 0)
		return -1;
	if (grown_by(t, a, 0, copied.from, o, false) < 0 ||
	    grown_by(t, a, copied.to, now, o, false) < 0 ||
	    grown_by(t, a, now, UINT64_MAX, o, true) < 0 || lz_alias_find(t, a->object, true) < 0)
		return -1;
	if (log_grown(t, a, 0, copied.from) < 0 || log_grown(t, a, copied.to, now) < 0)
		return -1;
	return has_copy ? log_difference(t, &of_copy, o->file, -1) : 0;
}

/* ---- memory that has no file: it does not grow with its mapping ---- */

static bool is_there(const struct lz_tracer *t, uint64_t page)
{
	uint8_t byte;

	return lz_proc_read_some(&t->p, page, &byte, 1) == 1;
}

/* Where in V an access begins to end in SIGBUS. */
static uint64_t end_of_memory(const struct lz_tracer *t, const struct lz_vma *v)
{
	uint64_t there = 0, pages = (v->end - v->start) / LZ_PAGE;

	while (there < pages) {
		uint64_t middle = there + (pages - there) / 2;

		if (is_there(t, v->start + middle * LZ_PAGE))
			there = middle + 1;
		else
			pages = middle;
	}
	return v->start + there * LZ_PAGE;
}

/* In replay, what is behind the end of the copy of the program's file. */
static int map_beyond(struct lz_tracer *t, struct lz_area a)
{
	struct stat st;
	lz_auto_close int copy = lz_writer_file_open(t->w, 0);

	if (copy < 0 || fstat(copy, &st) < 0)
		return -1;
	lz_alias_number(&a, 0);
	a.v.file = 0;
	a.v.offset = lz_page_up((uint64_t)st.st_size);
	return lz_map_op(t, &a);
}

/* *A becomes shorter: the rest of it is nothing. */
static int cut_beyond(struct lz_tracer *t, struct lz_area *a)
{
	uint64_t end = end_of_memory(t, &a->v), whole = a->v.end;

	a->v.end = end;
	return end < whole ? map_beyond(t, lz_area_part(a, end, whole)) : 0;
}

int lz_shared_lengthened(struct lz_tracer *t, struct lz_area *a)
{
	if (cut_beyond(t, a) < 0)
		return -1;
	if (a->v.start == a->v.end)
		return 0;
	return lz_map_op(t, a) < 0 ? -1 : lz_shared_log(t, a->v.start, a->v.end);
}

int lz_shared_again(struct lz_tracer *t, struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	lz_alias_number(a, 0);
	if (o && !o->segment) {
		t->n_shared++;
		return lz_shared_grown(t, a);
	}
	if (cut_beyond(t, a) < 0 || lz_map_op(t, a) < 0 || lz_shared_mapped(t, a) < 0)
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
	lz_shared_unsee(s);
	memset(s->fd, LZ_FD_UNKNOWN, sizeof(s->fd));
	for (uint32_t i = 1; i < s->n_objects; i++) {
		s->object[i].watched = s->object[i].any_time = s->object[i].shared =
		    s->object[i].with_others = false;
		s->object[i].inotify = 0;
		s->object[i].guard = LZ_GUARD_NONE;
		if (s->object[i].fd >= 0)
			close(s->object[i].fd);
		s->object[i].fd = -1;
	}
	s->watching = s->segments = s->anonymous = false;
	s->n_unrecorded = s->n_open = 0;
	lz_shared_with_others_forget(s);
	lz_notes_close(s->inotify);
	s->inotify = -1;
}
