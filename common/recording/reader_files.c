/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recording's copies of mapped files: where they are, and whether they are what was copied. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/recording/copystore.h>
#include <common/base/filecopy.h>
#include <common/recording/reader.h>
#include <common/base/sparse.h>
#include <lizard/error.h>
#include <lizard/format.h>

uint32_t lz_reader_n_files(const struct lz_reader *r)
{
	return r->n_files;
}

const struct lz_file *lz_reader_file(const struct lz_reader *r, uint32_t i)
{
	if (i < r->n_files)
		return &r->files[i];
	lz_fail("the recording names file %u, but has only %u", i, r->n_files);
	return NULL;
}

char *lz_reader_copy(const struct lz_reader *r, uint32_t i)
{
	const struct lz_file *f = lz_reader_file(r, i);
	char *path = NULL;

	if (!f)
		return NULL;
	if (f->damage)
		lz_fail("the recording's copy of %s is damaged: %s", f->path, f->damage);
	else if (!*f->copy)
		lz_fail("the recording did not keep the mapped file %s", f->path);
	else if (asprintf(&path, "%s/files/%s", r->dir, f->copy) < 0)
		lz_fail("no memory");
	else
		return path;
	return NULL;
}

char *lz_reader_object(const struct lz_reader *r, uint32_t i)
{
	const struct lz_file *f = lz_reader_file(r, i);

	if (!f || !f->hollow)
		return f ? lz_reader_copy(r, i) : NULL;
	lz_fail("the recording's copy of %s is not read as a program: nearly all of its %llu bytes "
	        "are holes",
	        f->path, (unsigned long long)f->size);
	return NULL;
}

char *lz_reader_object_of(const struct lz_reader *r, const char *path)
{
	char *copy = NULL;

	lz_fail("the recording did not keep %s", path);
	for (uint32_t i = 0; !copy && i < r->n_files; i++)
		if (strcmp(r->files[i].path, path) == 0)
			copy = lz_reader_object(r, i);
	return copy;
}

/* ---- checking ---- */

struct copy {
	dev_t dev;
	ino_t ino;
	uint64_t data; /* bytes to be read, about */
	uint32_t file;
};

struct checking {
	struct lz_reader *r;
	int folder; /* files/ */
	struct copy *v;
	uint32_t n;
	struct lz_work work;
};

static void say(struct lz_file *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What is not as it was written is not used. */
static void say(struct lz_file *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&f->damage, fmt, ap) < 0)
		f->damage = strdup("no memory");
	va_end(ap);
	*f->copy = 0;
}

/* Nobody opens a FIFO, or reads a file that has another size than the recording says. */
static void look_at(struct checking *c, uint32_t i)
{
	struct lz_file *f = &c->r->files[i];
	struct stat st;

	if (fstatat(c->folder, f->copy, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return say(f, "files/%s is missing", f->copy);
	if (!S_ISREG(st.st_mode))
		return say(f, "files/%s is not a file", f->copy);
	if ((uint64_t)st.st_size != f->size)
		return say(f, "files/%s has %lld of %llu bytes", f->copy, (long long)st.st_size,
		           (unsigned long long)f->size);
	c->v[c->n++] = (struct copy){st.st_dev, st.st_ino, lz_file_stored(&st), i};
}

/* What another reader has found out. */
static bool is_known(struct lz_file *f, const struct lz_file *other)
{
	if (f->crc != other->crc || f->size != other->size || strcmp(f->path, other->path) != 0 ||
	    (!other->damage && strcmp(f->copy, other->copy) != 0))
		return false;
	f->hollow = other->hollow;
	if (other->damage)
		say(f, "%s", other->damage);
	return true;
}

static int by_inode(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static bool is_hollow(int fd, uint64_t size)
{
	uint64_t data = lz_data_bytes(fd, size), holes = size - data;

	return holes > LZ_MAX_HOLES && holes / LZ_MAX_HOLLOW > data && lz_is_elf(fd);
}

static void say_changed(const struct checking *c, struct lz_file *f, uint32_t crc)
{
	struct stat st;

	/* other recordings may have linked to it, but no more shall do so */
	if (fstatat(c->folder, f->copy, &st, AT_SYMLINK_NOFOLLOW) == 0)
		lz_copystore_distrust(&st);
	say(f, "files/%s has the checksum %08x, recorded was %08x", f->copy, crc, f->crc);
}

/* V: N names of one file. -1: interrupted. */
static int check_contents(struct checking *c, const struct copy *v, uint32_t n)
{
	struct lz_file *files = c->r->files, *first = &files[v->file];
	lz_auto_close int fd =
	    openat(c->folder, first->copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is_read, hollow;
	uint32_t crc = 0;

	is_read = fd >= 0 && lz_file_crc(fd, &crc, &c->work) == 0;
	hollow = is_read && is_hollow(fd, first->size);
	for (uint32_t i = 0; i < n; i++) {
		struct lz_file *f = &files[v[i].file];

		f->hollow = hollow;
		if (!is_read)
			say(f, "files/%s cannot be read", f->copy);
		else if (crc != f->crc)
			say_changed(c, f, crc);
	}
	return lz_work_done(&c->work, 0);
}

/* How many from the I-th on are names of one file. */
static uint32_t names_of(const struct checking *c, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < c->n && by_inode(&c->v[i], &c->v[end]) == 0)
		end++;
	return end - i;
}

/* A file is read once, however many names it has. */
static int check_all(struct checking *c)
{
	uint64_t data = 0;
	int rc = 0;

	qsort(c->v, c->n, sizeof(*c->v), by_inode);
	for (uint32_t i = 0; i < c->n; i += names_of(c, i))
		data += c->v[i].data;
	lz_work_begin(&c->work, "checking the copies of mapped files", data);
	for (uint32_t i = 0; rc == 0 && i < c->n; i += names_of(c, i))
		rc = check_contents(c, &c->v[i], names_of(c, i));
	lz_work_end(&c->work);
	return rc;
}

int lz_reader_check_files(struct lz_reader *r, const struct lz_reader *checked)
{
	struct checking c = {.r = r};
	int rc = 0;

	c.v = calloc(r->n_files + 1u, sizeof(*c.v));
	if (!c.v)
		return lz_fail("no memory");
	c.folder = openat(r->dirfd, "files", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (uint32_t i = 0; i < r->n_files; i++)
		if (*r->files[i].copy && !(checked && i < checked->n_files &&
		                           is_known(&r->files[i], &checked->files[i])))
			look_at(&c, i);
	if (c.n)
		rc = check_all(&c);
	if (c.folder >= 0)
		close(c.folder);
	free(c.v);
	return rc;
}
