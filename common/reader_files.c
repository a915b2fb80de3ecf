/* The recording's copies of mapped files: where they are, and whether they are what was copied. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/filecopy.h>
#include <common/reader.h>
#include <lizard/error.h>

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

char *lz_reader_copy_of(const struct lz_reader *r, const char *path)
{
	char *copy = NULL;

	lz_fail("the recording did not keep %s", path);
	for (uint32_t i = 0; !copy && i < r->n_files; i++)
		if (strcmp(r->files[i].path, path) == 0)
			copy = lz_reader_copy(r, i);
	return copy;
}

/* ---- checking ---- */

static void say(struct lz_file *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct lz_file *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&f->damage, fmt, ap) < 0)
		f->damage = strdup("no memory");
	va_end(ap);
}

static void check_contents(struct lz_reader *r, const char *name, struct lz_file *f)
{
	int fd = openat(r->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint32_t crc;

	if (fd < 0 || lz_file_crc(fd, &crc) < 0)
		say(f, "%s cannot be read", name);
	else if (crc != f->crc)
		say(f, "%s has the checksum %08x, recorded was %08x", name, crc, f->crc);
	if (fd >= 0)
		close(fd);
}

/* What is not as it was written is not used: nobody opens a FIFO or maps a cut file. */
static void check_copy(struct lz_reader *r, struct lz_file *f)
{
	char name[272];
	struct stat st;

	snprintf(name, sizeof(name), "files/%s", f->copy);
	if (fstatat(r->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		say(f, "%s is missing", name);
	else if (!S_ISREG(st.st_mode))
		say(f, "%s is not a file", name);
	else if ((uint64_t)st.st_size != f->size)
		say(f, "%s has %lld of %llu bytes", name, (long long)st.st_size,
		    (unsigned long long)f->size);
	else
		check_contents(r, name, f);
	if (f->damage)
		*f->copy = 0;
}

void lz_reader_check_files(struct lz_reader *r)
{
	for (uint32_t i = 0; i < r->n_files; i++)
		if (*r->files[i].copy)
			check_copy(r, &r->files[i]);
}
