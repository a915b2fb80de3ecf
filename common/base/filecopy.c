/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include <libelf.h>
#include <zlib.h>
#include <libdeflate.h>
#include <common/base/filecopy.h>
#include <common/base/hostfile.h>
#include <common/base/sparse.h>
#include <lizard/error.h>
#include <lizard/recording.h>

enum { AT_ONCE = 256 << 10, KERNEL_AT_ONCE = 16 << 20 };

/* ---- checksum ---- */

struct sum {
	int fd;
	uint32_t crc;
	uint64_t at; /* up to there */
	uint8_t *buf;
	struct lz_work *work;
};

/* N zeroes more. A checksum is linear in its register, which is its complement. */
static void add_hole(struct sum *s, uint64_t n)
{
	s->crc = ~(uint32_t)crc32_combine((uint32_t)~s->crc, 0, (z_off_t)n);
	s->at += n;
}

static int add_data(void *arg, uint64_t from, uint64_t to)
{
	struct sum *s = arg;

	if (from > s->at)
		add_hole(s, from - s->at);
	while (s->at < to) {
		size_t want = to - s->at < AT_ONCE ? (size_t)(to - s->at) : AT_ONCE;
		ssize_t n = pread(s->fd, s->buf, want, (off_t)s->at);

		if (n < 0 && errno != EINTR)
			return lz_fail_errno("cannot read a mapped file");
		if (n == 0)
			return lz_fail("a mapped file became shorter while it was read");
		if (n > 0)
			s->crc = libdeflate_crc32(s->crc, s->buf, (size_t)n);
		if (n > 0)
			s->at += (uint64_t)n;
		if (lz_work_done(s->work, n > 0 ? (uint64_t)n : 0) < 0)
			return -1;
	}
	return 0;
}

int lz_file_crc(int fd, uint32_t *crc, struct lz_work *work)
{
	struct sum s = {.fd = fd, .work = work};
	struct stat st;
	int rc;

	*crc = 0;
	if (fstat(fd, &st) < 0)
		return lz_fail_errno("cannot read a mapped file");
	s.buf = malloc(AT_ONCE);
	if (!s.buf)
		return lz_fail("no memory");
	rc = lz_each_data(fd, (uint64_t)st.st_size, add_data, &s);
	if (rc == 0 && s.at < (uint64_t)st.st_size)
		add_hole(&s, (uint64_t)st.st_size - s.at);
	free(s.buf);
	*crc = s.crc;
	return rc;
}

/* ---- copying ---- */

struct copying {
	int from, to;
	uint64_t begin, end; /* what of it */
	uint8_t *buf;        /* made when it is needed */
	struct lz_work *work;
};

static ssize_t copy_plainly(struct copying *c, off_t at, size_t n)
{
	ssize_t got;

	if (!c->buf && !(c->buf = malloc(AT_ONCE)))
		return -1;
	got = pread(c->from, c->buf, n < AT_ONCE ? n : AT_ONCE, at);
	return got > 0 ? pwrite(c->to, c->buf, (size_t)got, at) : got;
}

/* Some of the N bytes from AT on, 0 if they are gone: by the kernel where it can. */
static ssize_t copy_some(struct copying *c, uint64_t at, uint64_t n)
{
	loff_t from = (loff_t)at, to = (loff_t)at;
	size_t want = n < KERNEL_AT_ONCE ? (size_t)n : KERNEL_AT_ONCE;
	ssize_t done = copy_file_range(c->from, &from, c->to, &to, want, 0);

	return done >= 0 || errno == EINTR || errno == ENOSPC ? done
	                                                      : copy_plainly(c, (off_t)at, want);
}

static int copy_stretch(void *arg, uint64_t from, uint64_t to)
{
	struct copying *c = arg;

	while (from < to) {
		ssize_t n = copy_some(c, from, to - from);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n == 0) /* it has become shorter meanwhile */
			return 0;
		if (lz_work_done(c->work, n > 0 ? (uint64_t)n : 0) < 0)
			return -1;
		from += n > 0 ? (uint64_t)n : 0;
	}
	return 0;
}

/* Holes stay holes. *SIZE: as in lz_copy_file(). */
static int copy_data(struct copying *c, uint64_t *size)
{
	struct stat st;

	if (lz_each_data_of(c->from, c->begin, c->end < *size ? c->end : *size, copy_stretch, c) <
	        0 ||
	    fstat(c->from, &st) < 0)
		return -1;
	if ((uint64_t)st.st_size < *size)
		*size = (uint64_t)st.st_size;
	return ftruncate(c->to, (off_t)*size);
}

static int copy_contents(struct copying *c, uint64_t *size)
{
	struct stat st;

	if (c->begin || c->end != UINT64_MAX || ioctl(c->to, FICLONE, c->from) < 0)
		return copy_data(c, size);
	if (fstat(c->to, &st) < 0)
		return -1;
	*size = (uint64_t)st.st_size;
	return 0;
}

static int copy(struct copying *c, uint64_t *size, uint32_t *crc, int dirfd, const char *name)
{
	int rc;

	c->to = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (c->to < 0)
		return lz_fail_errno("cannot create the copy files/%s", name);
	rc = copy_contents(c, size);
	free(c->buf);
	if (rc == 0)
		rc = lz_file_crc(c->to, crc, c->work);
	if (rc < 0) {
		rc = lz_fail_errno("cannot copy a mapped file to files/%s", name);
		unlinkat(dirfd, name, 0);
	}
	close(c->to);
	return rc;
}

int lz_copy_file(int fd, uint64_t *size, uint32_t *crc, int dirfd, const char *name,
                 struct lz_work *work)
{
	struct copying c = {.from = fd, .end = UINT64_MAX, .work = work};

	return copy(&c, size, crc, dirfd, name);
}

int lz_copy_part(int fd, uint64_t from, uint64_t to, uint64_t *size, uint32_t *crc, int dirfd,
                 const char *name)
{
	struct copying c = {.from = fd, .begin = from, .end = to};

	return copy(&c, size, crc, dirfd, name);
}

/* ---- build-id ---- */

bool lz_is_elf(int fd)
{
	char head[SELFMAG];

	return pread(fd, head, SELFMAG, 0) == SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
}

char *lz_build_id_fd(int fd)
{
	const void *bits = NULL;
	ssize_t n = -1;
	char *hex;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		n = dwelf_elf_gnu_build_id(elf, &bits);
	if (n < 0 || n > 64)
		n = 0;
	hex = calloc((size_t)n * 2 + 1, 1);
	for (ssize_t i = 0; hex && i < n; i++) {
		static const char digit[] = "0123456789abcdef";
		unsigned char c = ((const unsigned char *)bits)[i];

		hex[2 * i] = digit[c >> 4];
		hex[2 * i + 1] = digit[c & 15];
	}
	elf_end(elf);
	if (!hex)
		lz_fail("no memory");
	return hex;
}

char *lz_build_id(const char *path)
{
	/* the path may come from a recording */
	int fd = lz_open_regular(path);
	char *hex;

	if (fd < 0)
		return NULL;
	hex = lz_build_id_fd(fd);
	close(fd);
	return hex;
}
