/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/recording/copystore.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>
#include <linux/magic.h>
#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/base/sparse.h>
#include <lizard/error.h>

/* How long ago a file must have changed, or two versions of it could have the same times: those of
 * some file systems count in steps of two seconds; and who stores through a mapping gives the file
 * a later time only after what was stored before has been written to the disk. Programs and
 * libraries are not written so while they can be mapped. */
enum { STEP = 2, WRITTEN_BACK = 60 };

/* Seconds between looks for copies that nobody has any more, and how long they are kept: a run
 * that was of no interest is often followed by one of the same program. */
enum { SWEEP_EVERY = 600, KEPT = 3600 };

struct lz_copystore {
	int fd;
	dev_t dev;
};

/* ---- opening ---- */

char *lz_copystore_dir(void)
{
	lz_auto_free char *all = lz_recordings_dir();
	char *dir = NULL;

	if (all && asprintf(&dir, "%s/.copies-%u", all, (unsigned)geteuid()) < 0) {
		dir = NULL;
		lz_fail("no memory");
	}
	return dir;
}

/* Nobody else can have put anything there. */
static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

struct lz_copystore *lz_copystore_open(const char *dir)
{
	lz_auto_close int fd = -1;
	struct lz_copystore *s;
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		lz_debug("%s cannot be made", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !is_ours(&st)) {
		lz_debug("copies are not shared by way of %s", dir);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->fd = fd;
	s->dev = st.st_dev;
	fd = -1;
	return s;
}

struct lz_copystore *lz_copystore_open_for(int dirfd)
{
	lz_auto_free char *all = lz_recordings_dir(), *dir = lz_copystore_dir();
	struct stat here, there;

	if (!all || !dir || fstat(dirfd, &here) < 0 || stat(all, &there) < 0 ||
	    here.st_dev != there.st_dev)
		return NULL;
	return lz_copystore_open(dir);
}

void lz_copystore_close(struct lz_copystore *s)
{
	if (s)
		close(s->fd);
	free(s);
}

/* ---- names ---- */

/* What tells one version of a file from another, and one part of it. */
static char *key_of(const struct stat *st, struct lz_extent part)
{
	char *key;

	return asprintf(&key, LZ_FACTS_PREFIX "%llx-%llx-%llx-%llx.%09lx-%llx.%09lx-%llx-%llx",
	                (unsigned long long)st->st_dev, (unsigned long long)st->st_ino,
	                (unsigned long long)st->st_size, (unsigned long long)st->st_mtim.tv_sec,
	                st->st_mtim.tv_nsec, (unsigned long long)st->st_ctim.tv_sec,
	                st->st_ctim.tv_nsec, (unsigned long long)part.from,
	                (unsigned long long)part.to) < 0
	           ? NULL
	           : key;
}

void lz_copy_name(const struct lz_copy *c, char name[48])
{
	snprintf(name, 48, LZ_COPY_PREFIX "%llx-%08x", (unsigned long long)c->size, c->crc);
}

/* Would a change have shown in its times? */
static bool is_settled(int fd, const struct stat *st)
{
	const struct timespec *m = &st->st_mtim, *c = &st->st_ctim;
	time_t last = m->tv_sec > c->tv_sec ? m->tv_sec : c->tv_sec;
	int64_t age = (int64_t)time(NULL) - last;
	struct statfs fs;

	if (age <= STEP)
		return false;
	if (lz_is_elf(fd))
		return true;
	return age > WRITTEN_BACK && fstatfs(fd, &fs) == 0 && fs.f_type != TMPFS_MAGIC;
}

/* ---- from the store ---- */

static bool is_copy(const struct stat *st, const struct lz_copy *c)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 0222) &&
	       (uint64_t)st->st_size == c->size && st->st_ino == c->inode &&
	       st->st_mtim.tv_sec == c->time.tv_sec && st->st_mtim.tv_nsec == c->time.tv_nsec;
}

/* Is the store's copy what the facts of an earlier boot say? They are of this one then. */
static bool is_still_right(struct lz_copystore *s, const char *copy, const struct lz_copy *c)
{
	lz_auto_close int fd = openat(s->fd, copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	uint32_t crc;

	if (fd < 0 || fstat(fd, &st) < 0 || !is_copy(&st, c) || lz_file_crc(fd, &crc, NULL) < 0 ||
	    crc != c->crc)
		return false;
	lz_facts_write(s->fd, c);
	return true;
}

/* 1: DIRFD/NAME is a link to the copy that C tells of; 0: there is none. */
static int link_copy(struct lz_copystore *s, const struct lz_copy *c, int dirfd, const char *name)
{
	struct stat st;
	char copy[48];

	lz_copy_name(c, copy);
	if (linkat(s->fd, copy, dirfd, name, 0) < 0) {
		if (errno == EMLINK) /* the next one begins anew */
			unlinkat(s->fd, copy, 0);
		return 0;
	}
	/* whatever the name meant a moment ago */
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_copy(&st, c))
		return 1;
	unlinkat(dirfd, name, 0);
	unlinkat(s->fd, copy, 0);
	return 0;
}

static int find(struct lz_copystore *s, const char *key, int dirfd, const char *name,
                struct lz_copy *c)
{
	int known = lz_facts_read(s->fd, key, c), ret = 0;
	char copy[48];

	if (!known)
		return 0;
	c->key = strdup(key);
	lz_copy_name(c, copy);
	if (known == 2 && c->key && !is_still_right(s, copy, c))
		unlinkat(s->fd, copy, 0);
	else if (c->key)
		ret = link_copy(s, c, dirfd, name);
	if (!ret)
		lz_copy_free(c);
	return ret;
}

/* ---- into the store ---- */

struct comparing {
	int a, b;
};

static int compare(void *arg, uint64_t from, uint64_t to)
{
	const struct comparing *c = arg;
	char x[16384], y[16384];

	while (from < to) {
		size_t want = to - from < sizeof(x) ? (size_t)(to - from) : sizeof(x);
		ssize_t n = pread(c->a, x, want, (off_t)from);

		if (n <= 0 || pread(c->b, y, (size_t)n, (off_t)from) != n ||
		    memcmp(x, y, (size_t)n) != 0)
			return 1;
		from += (uint64_t)n;
	}
	return 0;
}

/* The checksums are equal, but somebody may have seen to that. */
static bool is_same(int a, int b, uint64_t size)
{
	return lz_each_data(a, size, compare, &(struct comparing){a, b}) == 0 &&
	       lz_each_data(b, size, compare, &(struct comparing){b, a}) == 0;
}

/* Takes the link DIRFD/NAME for the same copy in the store, COPY. -1: that is another one, or has
 * been damaged and is gone. */
static int become(struct lz_copystore *s, const char *copy, struct lz_copy *c, int dirfd,
                  const char *name)
{
	lz_auto_close int theirs =
	    openat(s->fd, copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	lz_auto_close int ours = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char next[80];
	struct stat st;

	if (theirs < 0 || ours < 0 || fstat(theirs, &st) < 0)
		return -1;
	c->inode = st.st_ino;
	c->time = st.st_mtim;
	if (!is_copy(&st, c) || !is_same(ours, theirs, c->size)) {
		unlinkat(s->fd, copy, 0);
		return -1;
	}
	snprintf(next, sizeof(next), "%.60s.next", name);
	if (!link_copy(s, c, dirfd, next))
		return -1;
	if (renameat(dirfd, next, dirfd, name) == 0)
		return 0;
	unlinkat(dirfd, next, 0);
	return -1;
}

/* The new copy DIRFD/NAME is the store's from now on, or a link to what is there already. */
static int put(struct lz_copystore *s, struct lz_copy *c, int dirfd, const char *name)
{
	struct stat st;
	char copy[48];

	lz_copy_name(c, copy);
	if (fchmodat(dirfd, name, 0400, 0) < 0 ||
	    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		c->inode = st.st_ino;
		c->time = st.st_mtim;
		if (linkat(dirfd, name, s->fd, copy, 0) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
		if (become(s, copy, c, dirfd, name) == 0)
			return 0;
	}
	return -1;
}

static void sweep_sometimes(struct lz_copystore *s)
{
	struct stat st;

	if (fstatat(s->fd, LZ_SWEPT, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    llabs((long long)time(NULL) - st.st_mtim.tv_sec) < SWEEP_EVERY)
		return;
	lz_auto_close int fd =
	    openat(s->fd, LZ_SWEPT, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || futimens(fd, NULL) < 0)
		return;
	lz_copystore_sweep(s->fd, KEPT);
}

static int make(int fd, const struct stat *st, struct lz_extent part, int dirfd, const char *name,
                struct lz_copy *c)
{
	int rc;

	*c = (struct lz_copy){.size = (uint64_t)st->st_size};
	rc = part.to == UINT64_MAX
	         ? lz_copy_file(fd, &c->size, &c->crc, dirfd, name, NULL)
	         : lz_copy_part(fd, part.from, part.to, &c->size, &c->crc, dirfd, name);
	if (rc == 0)
		c->build_id = lz_build_id_fd(fd);
	return c->build_id ? lz_debug_look(fd, &c->debug) : -1;
}

int lz_copystore_get(struct lz_copystore *s, int fd, struct lz_extent part, int dirfd,
                     const char *name, struct lz_copy *c)
{
	lz_auto_free char *key = NULL;
	struct stat st, now;

	if (fstat(fd, &st) < 0)
		return lz_fail_errno("cannot read a mapped file");
	key = s ? key_of(&st, part) : NULL;
	if (key && find(s, key, dirfd, name, c))
		return 0;
	if (make(fd, &st, part, dirfd, name, c) < 0)
		return -1;
	if (!key)
		return 0;
	if (put(s, c, dirfd, name) < 0) {
		lz_debug("the copy %s is not shared", name);
		return 0;
	}
	/* what changed meanwhile may be half of one version and half of another */
	if (is_settled(fd, &st) && fstat(fd, &now) == 0 && (c->key = key_of(&now, part)) &&
	    strcmp(c->key, key) == 0)
		lz_facts_write(s->fd, c);
	sweep_sometimes(s);
	return 0;
}

void lz_copystore_learnt(struct lz_copystore *s, const struct lz_copy *c)
{
	if (s && c->key)
		lz_facts_write(s->fd, c);
}
