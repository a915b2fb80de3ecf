/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The source files that a recording keeps: so that it can be debugged after they have changed. */
#include "cmds/base/catalog.h"
#include "cmds/pack/apart.h"
#include "cmds/pack/pack.h"

#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <common/base/hostfile.h>
#include <common/base/tree.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <lizard/recording.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *archive_of(const char *dir)
{
	char *path = NULL;

	if (asprintf(&path, "%s/" LZ_SOURCES_FILE, dir) >= 0)
		return path;
	lz_fail("no memory");
	return NULL;
}

/* ---- sharing ---- */

struct sharing {
	const char *path; /* of the archive */
	struct stat st;
	int fd;
};

static bool same_bytes(int a, int b)
{
	char x[4096], y[4096];
	ssize_t n;
	off_t at = 0;

	for (; (n = pread(a, x, sizeof(x), at)) > 0; at += n)
		if (pread(b, y, sizeof(y), at) != n || memcmp(x, y, (size_t)n) != 0)
			return false;
	return n == 0;
}

/* Is the archive of the recording NAME the same? Then it is the other's from now on, and 1 says
 * that the search is over. */
static int share_with(int all, const char *name, void *arg)
{
	struct sharing *s = arg;
	lz_auto_free char *other = archive_of(name), *next = NULL;
	struct stat st;

	if (!other || fstatat(all, other, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != s->st.st_uid || st.st_size != s->st.st_size ||
	    (st.st_dev == s->st.st_dev && st.st_ino == s->st.st_ino))
		return 0;
	lz_auto_close int fd = openat(all, other, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || !same_bytes(s->fd, fd) || asprintf(&next, "%s.tmp", s->path) < 0)
		return 0;
	if (linkat(all, other, AT_FDCWD, next, 0) < 0)
		return 0;
	if (rename(next, s->path) < 0)
		unlink(next);
	return 1;
}

/* With a recording beside DIR. That it cannot be shared is no failure. */
static void share(const char *dir, const char *path)
{
	const char *slash = strrchr(dir, '/');
	lz_auto_free char *beside = slash ? strndup(dir, (size_t)(slash - dir) + 1) : strdup(".");
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sharing s = {.path = path, .fd = fd};

	if (beside && fd >= 0 && fstat(fd, &s.st) == 0)
		lz_each_entry(AT_FDCWD, beside, share_with, &s);
}

/* Those without debug information name no sources, and need not be opened. */
static void leave_out_bare(struct lz_processes *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		if (all->v[i].bad || !all->v[i].meta.no_debug)
			all->v[n++] = all->v[i];
		else
			lz_entry_free(&all->v[i]);
	}
	all->n = n;
}

struct keeping {
	const char *dir;
	struct lz_processes all;
};

static int keep(const struct keeping *k)
{
	lz_auto_free char *path = archive_of(k->dir);
	struct lz_sources sources = {0};
	int rc = path ? lz_sources_find(&k->all, NULL, 0, &sources) : -1;

	if (rc == 0 && sources.n_packed) {
		rc = lz_pack_write_sources(path, &sources);
		if (rc == 0)
			share(k->dir, path);
	}
	lz_sources_free(&sources);
	return rc;
}

static char *keep_apart(const void *arg)
{
	return keep(arg) == 0 ? strdup("") : NULL;
}

int lz_sources_keep(const char *dir)
{
	struct keeping k = {.dir = dir};
	int rc = lz_processes_read(&k.all, dir);

	if (rc == 0)
		leave_out_bare(&k.all);
	if (rc == 0 && k.all.n) {
		lz_auto_free char *kept = lz_apart("keeping the sources", keep_apart, &k);

		rc = kept ? 0 : -1;
	}
	lz_processes_free(&k.all);
	return rc;
}

/* ---- packing ---- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct lz_source *)a)->path, ((const struct lz_source *)b)->path);
}

static int prefer(void *arg, const char *name, bool same)
{
	struct lz_sources *s = arg;

	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->v[i].path, name) != 0)
			continue;
		s->n_packed += s->v[i].fate != LZ_SOURCE_PACKED;
		s->v[i].fate = LZ_SOURCE_KEPT;
		return 0;
	}
	if (lz_extend(s->v, s->n) < 0)
		return -1;
	s->v[s->n] = (struct lz_source){strdup(name), LZ_SOURCE_KEPT, NULL};
	s->n_packed++;
	return s->v[s->n++].path ? 0 : lz_fail("no memory");
}

int lz_sources_prefer_kept(struct lz_sources *s, const char *dir)
{
	lz_auto_free char *path = archive_of(dir);
	int rc = path ? 0 : -1;

	if (rc == 0 && access(path, F_OK) == 0)
		rc = lz_sources_each(path, prefer, s);
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_path);
	return rc;
}

/* ---- opening ---- */

static int look(void *needed, const char *name, bool same)
{
	*(bool *)needed |= !same;
	return 0;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Beside TO and then renamed, so that what is there is whole. Who made the recording may have put
 * links there, but cannot know the name of what is new. */
static int unpack(const char *path, const char *to)
{
	lz_auto_free char *part = NULL;
	int rc;

	if (is_directory(to))
		return 0;
	if (asprintf(&part, "%s-XXXXXX", to) < 0)
		return lz_fail("no memory");
	if (!mkdtemp(part))
		return lz_fail_errno("cannot make the directory %s", part);
	rc = lz_sources_unpack(path, part);
	if (rc < 0)
		rmdir(part);
	if (rc < 0 || rename(part, to) == 0)
		return rc;
	lz_fail_errno("cannot rename %s", part);
	lz_undo_tree(part);
	return is_directory(to) ? 0 : -1;
}

char *lz_sources_open(const char *dir, bool *needed)
{
	lz_auto_free char *path = archive_of(dir);
	char *to = NULL;

	*needed = false;
	if (!path || access(path, F_OK) < 0)
		return NULL;
	if (lz_is_special(path)) {
		*needed = true;
		lz_fail("%s is no regular file", path);
		return NULL;
	}
	int rc = lz_sources_each(path, look, needed);

	*needed |= rc < 0;
	if (rc < 0 || !*needed)
		return NULL;
	if (asprintf(&to, "%s/" LZ_SOURCES_UNPACKED, dir) < 0)
		to = NULL;
	if (to && unpack(path, to) == 0)
		return to;
	free(to);
	return NULL;
}
