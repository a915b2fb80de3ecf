/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and segments that are mapped: which of them is which, and whether their copies still
 * hold. */
#include "tracer/memory/objects.h"
#include "tracer/memory/resident.h"

#include "tracer/memory/memory.h"
#include "tracer/memory/shared_data.h"

#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/base/sparse.h>
#include <lizard/error.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* A file changed so shortly before it was copied may change again without a later time: the
 * kernel's clock ticks. */
enum { TICKS_NS = 20 * 1000 * 1000 };

struct lz_shared *lz_shared_of(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s || !(s->object = calloc(1, sizeof(*s->object)))) {
		free(s);
		lz_fail("out of memory");
		return NULL;
	}
	s->n_objects = 1;
	s->inotify = -1;
	t->shared = s;
	return s;
}

struct lz_object *lz_object(const struct lz_tracer *t, uint32_t i)
{
	return i && t->shared && i < t->shared->n_objects ? &t->shared->object[i] : NULL;
}

uint32_t lz_object_of(const struct lz_tracer *t, dev_t dev, ino_t ino, bool segment)
{
	const struct lz_shared *s = t->shared;

	for (uint32_t i = 1; s && i < s->n_objects; i++) {
		const struct lz_object *o = &s->object[i];
		if (o->segment == segment && o->ino == ino && o->dev == dev)
			return i;
	}
	return 0;
}

/* 0: out of memory. */
static uint32_t object_made(struct lz_tracer *t, dev_t dev, ino_t ino, bool segment,
                            const char *path)
{
	struct lz_shared *s = lz_shared_of(t);

	if (!s)
		return 0;
	uint32_t i = lz_object_of(t, dev, ino, segment);
	if (i)
		return i;
	char *copy = strdup(path);
	if (!copy || lz_extend(s->object, s->n_objects) < 0) {
		free(copy);
		lz_fail("out of memory for the list of mapped files");
		return 0;
	}
	s->object[s->n_objects] =
	    (struct lz_object){.dev = dev,
	                       .ino = ino,
	                       .segment = segment,
	                       .path = copy,
	                       .file = LZ_NO_FILE,
	                       .fd = -1,
	                       .with_others = lz_was_shared_with_others(s, dev, ino)};
	return s->n_objects++;
}

static bool just_changed(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return (now.tv_sec - st->st_mtim.tv_sec) * 1000000000LL + now.tv_nsec -
	           st->st_mtim.tv_nsec <
	       TICKS_NS;
}

void lz_object_watch(struct lz_shared *s, struct lz_object *o)
{
	o->watched = o->any_time = s->watching = true;
	lz_unwatch_soon(o);
}

/* The holes of a large one are worth any descriptor. */
static void keep_open(struct lz_shared *s, struct lz_object *o, int fd, bool large)
{
	enum { MOST_SMALL = 64 };

	if (o->fd >= 0 || (!large && s->n_open >= MOST_SMALL))
		return;
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	s->n_open += o->fd >= 0;
}

void lz_objects_close(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	for (uint32_t i = 1; s && s->n_open && i < s->n_objects; i++) {
		struct lz_object *o = &s->object[i];
		if (o->fd < 0 || lz_object_is_mapped(t, i))
			continue;
		close(o->fd);
		o->fd = -1;
		if (o->guard != LZ_GUARD_REFUSED)
			o->guard = LZ_GUARD_NONE;
		s->n_open--;
	}
}

/* Nearly all of it is holes, and to read them would take long. */
static bool is_sparse(const struct stat *st)
{
	enum { LARGE = 16 << 20, SHARE = 4 };
	const uint64_t size = (uint64_t)st->st_size;

	return size > LARGE && lz_file_stored(st) < size / SHARE;
}

bool lz_object_named(const struct lz_object *o, struct stat *st)
{
	return stat(o->path, st) == 0 && st->st_ino == o->ino && st->st_dev == o->dev;
}

bool lz_object_stat(const struct lz_object *o, struct stat *st)
{
	return o->fd >= 0 ? fstat(o->fd, st) == 0 : lz_object_named(o, st);
}

static bool has_name(const struct lz_object *o)
{
	struct stat st;

	return lz_object_named(o, &st);
}

/* As the kernel says of descriptors: only a descriptor of ours leads to it then. */
static bool is_unlinked(const char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t n = strlen(path);

	return n >= sizeof(deleted) - 1 && strcmp(path + n - (sizeof(deleted) - 1), deleted) == 0;
}

/* It may have been renamed. */
static int be_named(struct lz_object *o, const char *path)
{
	char *copy;

	if (strcmp(o->path, path) == 0 || has_name(o))
		return 0;
	copy = strdup(path);
	if (!copy)
		return lz_fail("out of memory for the list of mapped files");
	free(o->path);
	o->path = copy;
	return 0;
}

/* A maps it from OFFSET on, of which FILE is a copy of PART. */
static struct lz_object *be_mapping(struct lz_tracer *t, struct lz_area *a, const struct stat *st,
                                    const char *path, uint64_t offset, struct lz_extent part,
                                    uint32_t file)
{
	a->v.file = file;
	a->v.offset = offset;
	a->object = object_made(t, st->st_dev, st->st_ino, false, path);
	a->object_at = offset;
	struct lz_object *o = lz_object(t, a->object);
	if (!o || be_named(o, path) < 0)
		return NULL;
	o->file = file;
	o->copied = part;
	o->size = (uint64_t)st->st_size;
	o->file_end = lz_page_up(o->size);
	memset(t->shared->fd, LZ_FD_UNKNOWN, sizeof(t->shared->fd));
	t->shared->watching |= o->any_time;
	return o;
}

static struct lz_extent part_of(const struct lz_area *a, uint64_t offset)
{
	return (struct lz_extent){offset, offset + (a->v.end - a->v.start)};
}

int lz_map_file(struct lz_tracer *t, struct lz_area *a, int fd, const char *path, uint64_t offset)
{
	struct lz_extent part = part_of(a, offset);
	struct stat st;
	uint32_t file;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	int known = lz_writer_file_part(t->w, path, fd, &part, &file);
	if (known < 0)
		return -1;
	struct lz_object *o = be_mapping(t, a, &st, path, offset, part, file);
	if (!o)
		return -1;
	o->again = known && o->stale;
	if (!known)
		o->stale |= just_changed(&st);
	if (a->v.flags & MAP_SHARED || is_sparse(&st) || is_unlinked(path))
		keep_open(t->shared, o, fd, lz_shared_is_large(a) || is_sparse(&st));
	return 0;
}

int lz_map_known(struct lz_tracer *t, struct lz_area *a, const struct stat *st, uint64_t offset)
{
	const uint32_t i = lz_object_of(t, st->st_dev, st->st_ino, false);
	struct lz_extent part = part_of(a, offset);
	uint32_t file;

	if (!i || a->v.flags & MAP_SHARED || !S_ISREG(st->st_mode) || !has_name(lz_object(t, i)) ||
	    (lz_object(t, i)->fd < 0 && is_sparse(st)) ||
	    !lz_writer_file_known(t->w, st, &part, &file))
		return 0;
	struct lz_object *o = be_mapping(t, a, st, lz_object(t, i)->path, offset, part, file);

	if (!o)
		return -1;
	o->again = o->stale;
	return 1;
}

static int open_again(const struct lz_object *o)
{
	if (o->fd >= 0)
		return fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
	return !has_name(o) ? -1 : open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int lz_map_more(struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);
	struct lz_area more = *a;

	if (o->copied.from <= a->object_at &&
	    a->object_at + (a->v.end - a->v.start) <= o->copied.to)
		return 0;
	lz_auto_close int fd = open_again(o);

	return fd < 0 ? 0 : lz_map_file(t, &more, fd, o->path, a->object_at);
}

int lz_map_segment(struct lz_tracer *t, struct lz_area *a, int id)
{
	char name[64];

	snprintf(name, sizeof(name), "System V shared memory %d", id);
	a->object = object_made(t, 0, (ino_t)id, true, name);
	a->object_at = 0;
	return a->object ? 0 : -1;
}

/* Where the kernel maps what is mapped at ADDR; its parts may differ in protection. */
struct nameless {
	struct lz_tracer *t;
	uint64_t addr, inode;
	unsigned major, minor;
	uint32_t object;
};

static int find_inode(void *arg, const struct lz_maps_entry *e)
{
	struct nameless *n = arg;

	if (n->addr < e->start || n->addr >= e->end)
		return 0;
	n->inode = strcmp(e->path, "/dev/zero (deleted)") ? 0 : e->inode;
	n->major = e->dev_major;
	n->minor = e->dev_minor;
	return 1;
}

static int is_of_inode(void *arg, const struct lz_maps_entry *e)
{
	const struct nameless *n = arg;
	struct lz_vmas *m = &n->t->vmas;
	size_t first, last;

	if (!e->shared || e->inode != n->inode || e->dev_major != n->major ||
	    e->dev_minor != n->minor)
		return 0;
	/* Neighbours without objects are one area. */
	if (lz_vmas_slice(m, e->start, e->end, &first, &last) < 0)
		return -1;
	for (size_t i = first; i < last; i++) {
		m->a[i].object = n->object;
		m->a[i].object_at = e->offset + (m->a[i].v.start - e->start);
	}
	return 0;
}

int lz_map_nameless(struct lz_tracer *t, uint64_t addr)
{
	struct nameless n = {.t = t, .addr = addr};

	if (lz_proc_maps(t->p.pid, find_inode, &n) < 0)
		return -1;
	if (!n.inode)
		return 0;
	n.object = object_made(t, makedev(n.major, n.minor), n.inode, true,
	                       "shared memory without a name");
	if (!n.object)
		return -1;
	lz_object(t, n.object)->nameless = true;
	return lz_proc_maps(t->p.pid, is_of_inode, &n) < 0 ? -1 : 0;
}

int lz_map_gone(struct lz_tracer *t, struct lz_area *a, const struct lz_maps_entry *e)
{
	a->follows = true;
	a->object = object_made(t, makedev(e->dev_major, e->dev_minor), e->inode, true, e->path);
	if (!a->object)
		return -1;
	a->object_at = e->offset;
	lz_object(t, a->object)->nameless = true;
	return 0;
}

bool lz_is_segment(const struct lz_tracer *t, uint32_t object)
{
	const struct lz_object *o = lz_object(t, object);

	return o && o->segment;
}

bool lz_object_is_mapped(const struct lz_tracer *t, uint32_t i)
{
	for (size_t j = 0; j < t->vmas.n; j++)
		if (t->vmas.a[j].object == i)
			return true;
	return false;
}

uint32_t lz_object_of_fd(struct lz_tracer *t, int fd, struct stat *st)
{
	struct lz_shared *s = t->shared;
	bool known = fd >= 0 && fd < LZ_FDS;
	char path[64];
	uint32_t i = 0;

	if (known && s->fd[fd] == LZ_FD_OTHER)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	if (stat(path, st) == 0 && S_ISREG(st->st_mode))
		i = lz_object_of(t, st->st_dev, st->st_ino, false);
	if (i && !lz_object_is_mapped(t, i))
		i = 0;
	if (known)
		s->fd[fd] = i ? LZ_FD_MAPPED : LZ_FD_OTHER;
	return i;
}

static void object_free(struct lz_object *o)
{
	free(o->path);
	lz_pagemap_free(&o->logged);
}

void lz_shared_free(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	if (!s)
		return;
	lz_shared_forget(t);
	for (uint32_t i = 1; i < s->n_objects; i++)
		object_free(&s->object[i]);
	free(s->object);
	lz_resident_forget(s);
	free(s->resident);
	free(s);
	t->shared = NULL;
}
