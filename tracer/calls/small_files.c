/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private mappings of a small part of a file: their bytes are in their event, as if they had been read.
 * A copy of each file would take longer than all else that programs do with such files. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <common/base/cleanup.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct lz_area area_of(const uint64_t *args, uint64_t at)
{
	return (struct lz_area){.v = {.start = at,
	                              .end = at + lz_page_up(args[1]),
	                              .prot = (uint32_t)args[2],
	                              .flags = MAP_PRIVATE,
	                              .file = LZ_NO_FILE,
	                              .role = LZ_VMA_PLAIN},
	                        .small = true};
}

static int add(struct lz_tracer *t, const struct lz_area *a, const uint8_t *bytes, uint64_t n)
{
	if (lz_map_removed(t, a->v.start, a->v.end) < 0 || lz_map_op(t, a) < 0)
		return -1;
	return lz_build_write(t, a->v.start, bytes, n);
}

/* What is mapped at AT has become an object, as M is. */
static int become(struct lz_tracer *t, uint64_t at, const struct lz_area *m)
{
	struct lz_area *a = &t->vmas.a[lz_vmas_find(&t->vmas, at)];
	struct lz_object *o = lz_object(t, m->object);

	a->object = m->object;
	a->object_at = m->object_at + (a->v.start - m->v.start);
	a->follows = true;
	if (o && !o->segment)
		lz_outside_watch_private(t, o);
	return lz_pages_changed(t, a->v.start, a->v.end);
}

/* ---- at a stop ---- */

/* The program's descriptor, as ours; -1: it is not of such a file. */
static int open_small(struct lz_tracer *t, const uint64_t *args, char *path, size_t room,
                      uint64_t *n)
{
	const uint64_t len = lz_page_up(args[1]), offset = args[5];
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)t->p.pid, (int)args[4]);
	const ssize_t path_len = readlink(link, path, room - 1);
	if (path_len < 0 || stat(link, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	path[path_len] = 0;
	const struct lz_object *o = lz_object(t, lz_object_of(t, st.st_dev, st.st_ino, false));
	const uint64_t size = (uint64_t)st.st_size;
	if ((o && o->shared) || offset >= size || len > lz_page_up(size) - offset)
		return -1;
	*n = len < size - offset ? len : size - offset;
	return open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int lz_small_mapped(struct lz_tracer *t, uint64_t at)
{
	const struct lz_call *c = &t->cur->call;
	static uint8_t bytes[LZ_SMALL_FILE];
	char path[4096];
	uint64_t n;

	if (!lz_maps_small(c->args))
		return 0;
	struct lz_area a = area_of(c->args, at);
	lz_auto_close int fd = open_small(t, c->args, path, sizeof(path), &n);
	if (fd < 0 || pread(fd, bytes, n, (off_t)c->args[5]) != (ssize_t)n ||
	    lz_is_for_linkers(bytes, n))
		return 0;
	if (add(t, &a, bytes, n) < 0 || lz_map_file(t, &a, fd, path, c->args[5]) < 0)
		return -1;
	return become(t, at, &a) < 0 ? -1 : 1;
}

/* ---- without a stop ---- */

int lz_small_logged(struct lz_tracer *t, const struct lz_call_record *r, const uint8_t *bytes,
                    uint64_t n)
{
	const struct lz_area a = area_of(r->args, (uint64_t)r->result);
	struct lz_fast *f = &t->fast;

	t->map_id++;
	if (add(t, &a, bytes, n) < 0)
		return -1;
	lz_small_gone(t, a.v.start, a.v.end);
	if (f->n_files == LZ_SMALL_FILES)
		return 1;
	f->file[f->n_files++] = (struct lz_logged_file){a.v.start, bytes, n};
	return 0;
}

void lz_small_gone(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	struct lz_fast *f = &t->fast;

	for (uint32_t i = 0; i < f->n_files;)
		if (f->file[i].at >= start && f->file[i].at < end)
			f->file[i] = f->file[--f->n_files];
		else
			i++;
}

/* Does the mapping of F show what F has no more? What the program has stored to is its own. */
static bool has_changed(const struct lz_tracer *t, const struct lz_vma *v,
                        const struct lz_logged_file *f)
{
	uint8_t page[LZ_PAGE];

	for (uint64_t done = 0; done < v->end - v->start; done += LZ_PAGE) {
		const uint64_t n = done >= f->n ? 0 : f->n - done < LZ_PAGE ? f->n - done : LZ_PAGE;

		if (!lz_dirty_owned(t, v->start + done) &&
		    lz_proc_read_some(&t->p, v->start + done, page, LZ_PAGE) == LZ_PAGE &&
		    memcmp(page, f->bytes + done, n) != 0)
			return true;
	}
	return false;
}

static int settle(struct lz_tracer *t, const struct lz_logged_file *f,
                  const struct lz_maps_entry *e)
{
	struct lz_area m;

	if (lz_area_of(t, e, &m) < 0 || become(t, f->at, &m) < 0)
		return -1;
	struct lz_object *o = lz_object(t, m.object);
	if (o && !o->segment && has_changed(t, &t->vmas.a[lz_vmas_find(&t->vmas, f->at)].v, f))
		o->unseen = t->shared->unseen = true;
	return 0;
}

static bool is_at(const struct lz_tracer *t, uint64_t at)
{
	const ptrdiff_t i = lz_vmas_find(&t->vmas, at);

	return i >= 0 && t->vmas.a[i].small && t->vmas.a[i].v.start == at && !t->vmas.a[i].follows;
}

struct settling {
	struct lz_tracer *t;
	bool failed;
};

static int settle_here(void *arg, const struct lz_maps_entry *e)
{
	struct settling *s = arg;
	struct lz_tracer *t = s->t;

	for (uint32_t i = 0; e->inode && !e->shared && i < t->fast.n_files; i++) {
		const struct lz_logged_file *f = &t->fast.file[i];

		if (f->at >= e->start && f->at < e->end && is_at(t, f->at))
			s->failed |= settle(t, f, e) < 0;
	}
	return s->failed ? -1 : 0;
}

/* All of them, in a list of all mappings. A program that has been killed has none. */
static int settle_listed(struct lz_tracer *t)
{
	struct settling s = {.t = t};

	lz_proc_maps(t->p.pid, settle_here, &s);
	return s.failed ? -1 : 0;
}

int lz_small_settle(struct lz_tracer *t)
{
	struct settling s = {.t = t};
	struct lz_fast *f = &t->fast;
	struct lz_maps_entry e;
	int found = 1, ret = 0;

	for (uint32_t i = 0; found >= 0 && !s.failed && i < f->n_files; i++) {
		found = is_at(t, f->file[i].at) ? lz_proc_map_at(t->p.pid, f->file[i].at, &e) : 0;
		if (found > 0)
			settle_here(&s, &e);
	}
	if (found < 0)
		ret = settle_listed(t);
	f->n_files = 0;
	return s.failed ? -1 : ret;
}
