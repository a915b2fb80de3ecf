/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is mapped shared that others may store to at any time, without that being told: then it
 * is compared after each call. */
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <common/base/array.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1024 };

bool lz_is_common(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	if (!(a->v.flags & MAP_SHARED) || a->v.role == LZ_VMA_BUFFER)
		return false;
	if (a->v.prot & PROT_WRITE || lz_flags_object(a->v.flags) || !o || o->segment || o->watched)
		return true;
	return strncmp(o->path, "/memfd:", 7) == 0 || strncmp(o->path, "/dev/shm/", 9) == 0;
}

bool lz_is_shared_with_others(const struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_object *o = lz_object(t, a->object);

	if (!t->has_children || !(a->v.flags & MAP_SHARED) || a->v.role == LZ_VMA_BUFFER)
		return false;
	return lz_is_common(t, a) || o->with_others ||
	       o->inotify <= 0; /* <= 0: nothing would tell */
}

bool lz_was_shared_with_others(const struct lz_shared *s, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < s->n_with_others; i++)
		if (s->with_others[i].ino == ino && s->with_others[i].dev == dev)
			return true;
	return s->all_with_others;
}

static void share_file(struct lz_shared *s, const struct stat *st)
{
	if (lz_was_shared_with_others(s, st->st_dev, st->st_ino))
		return;
	if (s->n_with_others >= MOST || lz_extend(s->with_others, s->n_with_others) < 0) {
		s->all_with_others = true;
		return;
	}
	s->with_others[s->n_with_others++] = (struct lz_identity){st->st_dev, st->st_ino};
}

/* Calls FN for each file that the program has open for writing, until it says true. -1: which those
 * are is not known. */
static int each_writable(const struct lz_tracer *t, bool (*fn)(void *arg, const struct stat *st),
                         void *arg)
{
	char path[64];
	struct dirent *e;
	bool done = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)t->p.pid);
	DIR *d = opendir(path);
	if (!d)
		return -1;
	while (!done && (e = readdir(d))) {
		struct stat link, st;
		done = fstatat(dirfd(d), e->d_name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
		       S_ISLNK(link.st_mode) && link.st_mode & S_IWUSR &&
		       fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
		       fn(arg, &st);
	}
	closedir(d);
	return done;
}

static bool share_descriptor(void *s, const struct stat *st)
{
	share_file(s, st);
	return false;
}

/* Through a descriptor that was opened for writing a file can be mapped, which nothing tells. */
static void share_descriptors(struct lz_tracer *t)
{
	if (each_writable(t, share_descriptor, t->shared) < 0)
		t->shared->all_with_others = true;
}

/* Whoever has a mapping of a file that was opened for writing may make it writable. */
static bool may_be_writable(const struct lz_tracer *t, const struct lz_vma *v)
{
	char path[96];
	struct stat st;

	if (v->prot & PROT_WRITE)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)t->p.pid, v->start, v->end);
	return lstat(path, &st) < 0 || st.st_mode & S_IWUSR;
}

static bool is_object(void *object, const struct stat *st)
{
	const struct lz_object *o = object;

	return o->ino == st->st_ino && o->dev == st->st_dev;
}

bool lz_program_writes(const struct lz_tracer *t, struct lz_object *o)
{
	for (size_t i = 0; !o->own && i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		o->own = lz_object(t, a->object) == o && a->v.flags & MAP_SHARED &&
		         may_be_writable(t, &a->v);
	}
	o->own = o->own || each_writable(t, is_object, o) != 0;
	return o->own;
}

void lz_share_with_others(struct lz_tracer *t)
{
	struct lz_shared *s = t->shared;

	t->has_children = true;
	if (!s)
		return;
	share_descriptors(t);
	for (uint32_t i = 1; i < s->n_objects; i++)
		s->object[i].with_others |=
		    lz_was_shared_with_others(s, s->object[i].dev, s->object[i].ino);
	for (size_t i = 0; t->n_shared && i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		struct lz_object *o = lz_object(t, a->object);
		if (o && a->v.flags & MAP_SHARED && !o->with_others)
			o->with_others = may_be_writable(t, &a->v);
	}
}

void lz_shared_with_others_forget(struct lz_shared *s)
{
	free(s->with_others);
	s->with_others = NULL;
	s->n_with_others = 0;
	s->all_with_others = false;
}
