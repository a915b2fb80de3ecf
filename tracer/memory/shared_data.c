/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/memory/shared_data.h"

#include "tracer/log/log.h"
#include "tracer/memory/objects.h"
#include "tracer/memory/resident.h"

#include <common/base/cleanup.h>
#include <common/base/sparse.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Below, to look takes longer than to read. */
enum { SMALL = 64 * LZ_PAGE };

/* What is mapped at START is at OFFSET of the file. */
struct source {
	int fd;                             /* -1: it has no data, or */
	const struct lz_resident *resident; /* that says it */
	uint64_t start, offset;
};

struct walk {
	struct source now, copy;
	lz_stretch_fn *fn;
	void *arg;
};

static void next_data(const struct source *s, uint64_t at, uint64_t end, uint64_t *from,
                      uint64_t *to)
{
	const uint64_t shift = s->offset - s->start;

	*from = *to = end;
	if (s->fd < 0 && !s->resident)
		return;
	if (s->resident)
		lz_resident_next(s->resident, at + shift, end + shift, from, to);
	else
		lz_next_data(s->fd, at + shift, end + shift, from, to);
	*from = lz_page_down(*from - shift);
	*to = lz_page_up(*to - shift);
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Behind the end of the file nothing can be read. */
static uint64_t end_of(const struct source *s, uint64_t end)
{
	struct stat st;

	if (s->resident || fstat(s->fd, &st) < 0)
		return end;
	uint64_t size = lz_page_up((uint64_t)st.st_size);
	return size > s->offset ? lower(end, s->start + (size - s->offset)) : s->start;
}

static int walk(const struct walk *w, uint64_t start, uint64_t end)
{
	uint64_t data, data_end, copied, copied_end;
	int ret = 0;

	end = end_of(&w->now, end);

	for (uint64_t at = start, to; ret == 0 && at < end; at = to) {
		next_data(&w->now, at, end, &data, &data_end);
		next_data(&w->copy, at, end, &copied, &copied_end);
		if (data <= at)
			ret = w->fn(w->arg, LZ_STRETCH_DATA, at, to = data_end);
		else if (copied <= at)
			ret = w->fn(w->arg, LZ_STRETCH_GONE, at, to = lower(copied_end, data));
		else
			ret = w->fn(w->arg, LZ_STRETCH_HOLE, at, to = lower(copied, data));
	}
	return ret;
}

/* ---- memory of which we have no descriptor ---- */

struct search {
	const struct lz_tracer *t;
	const struct lz_vma *v;
	struct walk walk;
};

/* Memory without a name is a file as well, to those who may open it there. A device is nothing to
 * be opened. */
int lz_shared_open(pid_t pid, const struct lz_maps_entry *e)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, e->start, e->end);
	return stat(path, &st) == 0 && S_ISREG(st.st_mode)
	           ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
	           : -1;
}

/* The mapping's own start stands for the file's: what is known is known of the mapping. */
static int walk_resident(struct search *s, const struct lz_resident *known, uint64_t start,
                         uint64_t from, uint64_t to)
{
	s->walk.now = (struct source){.fd = -1, .resident = known, .start = start};
	return walk(&s->walk, from, to);
}

static int walk_mapping(void *arg, const struct lz_maps_entry *e)
{
	struct search *s = arg;
	uint64_t from = e->start > s->v->start ? e->start : s->v->start;
	uint64_t to = lower(e->end, s->v->end);

	if (from >= to)
		return 0;
	const struct lz_resident *known = lz_resident_of(s->t, e);
	if (known)
		return walk_resident(s, known, e->start, from, to);
	lz_auto_close int fd = lz_shared_open(s->t->p.pid, e);
	if (fd < 0)
		return s->walk.fn(s->walk.arg, LZ_STRETCH_DATA, from, to);
	s->walk.now = (struct source){.fd = fd, .start = e->start, .offset = e->offset};
	return walk(&s->walk, from, to);
}

/* ---- the area ---- */

bool lz_shared_is_large(const struct lz_area *a)
{
	return a->v.end - a->v.start > SMALL;
}

int lz_shared_data(struct lz_tracer *t, const struct lz_area *a, lz_stretch_fn *fn, void *arg)
{
	const struct lz_object *o = lz_object(t, a->object);
	bool is_file = o && o->file != LZ_NO_FILE;
	lz_auto_close int copy = -1;

	if (!lz_shared_is_large(a) || (is_file && o->fd < 0))
		return fn(arg, LZ_STRETCH_DATA, a->v.start, a->v.end);
	if (a->v.file != LZ_NO_FILE && (copy = lz_writer_file_open(t->w, a->v.file)) < 0)
		return -1;
	struct walk w = {
	    .copy = {.fd = copy, .start = a->v.start, .offset = a->v.offset}, .fn = fn, .arg = arg};
	if (is_file) {
		w.now = (struct source){.fd = o->fd, .start = a->v.start, .offset = a->object_at};
		return walk(&w, a->v.start, a->v.end);
	}
	struct search s = {t, &a->v, w};
	return lz_proc_maps(t->p.pid, walk_mapping, &s);
}
