/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adding to what was computed. Several readers may do so at once, also of several processes: each
 * one adds a whole frame at the end while it holds the file's lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <libdeflate.h>
#include <common/recording/computed_inside.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

enum { LOCK_TRIES = 500, LOCK_EVERY_US = 1000 };

/* Nobody is made to write to a file that a stranger has put there, or linked there. */
bool lz_is_ours(int fd, mode_t kind)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
	       (kind == S_IFDIR || st.st_nlink == 1);
}

int lz_recording_ours(const struct lz_reader *r)
{
	if (!lz_is_ours(r->dirfd, S_IFDIR))
		return lz_fail("the recording belongs to somebody else");
	return lz_recording_busy(r->dir) ? lz_fail("it is still being recorded") : 0;
}

int lz_computed_folder(const struct lz_reader *r)
{
	if (lz_recording_ours(r) < 0)
		return -1;
	if (mkdirat(r->dirfd, LZ_INDEX_FOLDER, 0700) < 0 && errno != EEXIST)
		return lz_fail_errno("cannot make the folder " LZ_INDEX_FOLDER);
	int fd = openat(r->dirfd, LZ_INDEX_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return lz_fail_errno("cannot open the folder " LZ_INDEX_FOLDER);
	if (lz_is_ours(fd, S_IFDIR))
		return fd;
	close(fd);
	return lz_fail(LZ_INDEX_FOLDER " belongs to somebody else");
}

static int open_to_write(const struct lz_reader *r, const struct lz_stream *s)
{
	char name[LZ_COMPUTED_NAME];

	lz_auto_close int folder = lz_computed_folder(r);
	if (folder < 0)
		return -1;
	lz_computed_name(s, name);
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return lz_fail_errno("cannot open " LZ_INDEX_FOLDER "/%s", name);
	if (lz_is_ours(fd, S_IFREG))
		return fd;
	close(fd);
	return lz_fail(LZ_INDEX_FOLDER "/%s belongs to somebody else", name);
}

/* Who has it adds one block. Longer than that only a stopped process takes. */
static int lock(int fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return lz_fail_errno("cannot lock it");
		usleep(LOCK_EVERY_US);
	}
	return lz_fail("another process has it locked");
}

static int write_frame(const struct lz_computed *c, const struct lz_frame *f, const void *payload)
{
	uint8_t header[LZ_FRAME_HEADER];
	struct iovec v[] = {{header, sizeof(header)}, {(void *)payload, f->stored_len}};
	const ssize_t len = (ssize_t)(sizeof(header) + f->stored_len);
	ssize_t n;

	lz_frame_pack(f, header);
	do {
		n = pwritev(c->fd, v, 2, (off_t)c->end);
	} while (n < 0 && errno == EINTR);
	if (n == len)
		return 0;
	int why = n < 0 ? errno : ENOSPC;
	if (ftruncate(c->fd, (off_t)c->end) < 0)
		lz_debug("a part of a frame remains behind");
	errno = why;
	return lz_fail_errno("cannot write");
}

/* What lies behind the last frame was left by a process that was killed. */
static int cut_rest(const struct lz_computed *c)
{
	struct stat st;

	if (fstat(c->fd, &st) < 0)
		return lz_fail_errno("cannot look at it");
	return (uint64_t)st.st_size > c->end && ftruncate(c->fd, (off_t)c->end) < 0
	           ? lz_fail_errno("cannot cut it")
	           : 0;
}

/* While it is locked. */
static int add(struct lz_stream *s, uint32_t i, const struct lz_frame *f, const void *payload,
               uint64_t limit)
{
	struct lz_computed *c = &s->computed;

	if (!c->of)
		return lz_fail("no memory");
	lz_computed_scan(c, s);
	if (c->of[i].type)
		return 0;
	if (c->end + LZ_FRAME_HEADER + f->stored_len > limit)
		return lz_fail("it has the %llu MiB that it may have",
		               (unsigned long long)limit >> 20);
	if (cut_rest(c) < 0 || write_frame(c, f, payload) < 0)
		return -1;
	lz_computed_scan(c, s);
	return 0;
}

static int begin(const struct lz_reader *r, struct lz_stream *s)
{
	int fd = s->computed.why ? lz_fail("%s", s->computed.why) : open_to_write(r, s);

	if (fd < 0)
		return -1;
	lz_computed_take(&s->computed, s, fd);
	s->computed.writes = true;
	return 0;
}

static int keep(struct lz_stream *s, uint32_t i, const struct lz_frame *f, const void *payload,
                uint64_t limit)
{
	if (lock(s->computed.fd) < 0)
		return -1;
	int rc = add(s, i, f, payload, limit);
	flock(s->computed.fd, LOCK_UN);
	return rc;
}

/* It is not tried again. */
static int give_up(const struct lz_reader *r, struct lz_computed *c)
{
	if (c->why)
		return -1;
	lz_fail_in("%s/" LZ_INDEX_FOLDER, r->dir);
	c->why = strdup(lz_error());
	return -1;
}

int lz_reader_begin_keeping(struct lz_reader *r, uint32_t tid)
{
	struct lz_stream *s = lz_reader_stream(r, tid);

	if (!s)
		return lz_fail("thread %u has no markers", tid);
	return s->computed.writes || begin(r, s) == 0 ? 0 : give_up(r, &s->computed);
}

int lz_reader_keep_computed(struct lz_reader *r, uint32_t tid, uint32_t block, int codec,
                            const void *packed, size_t len, uint64_t limit)
{
	struct lz_stream *s = lz_reader_stream(r, tid);
	uint32_t i = s ? block + s->n_before : 0;

	if (!s || i >= s->frames.n || s->frames.v[i].type != LZ_FRAME_HASHED)
		return lz_fail("no block of markers that is to be computed");
	if (lz_reader_begin_keeping(r, tid) < 0)
		return -1;
	if (s->computed.why)
		return lz_fail("%s", s->computed.why);
	/* what is damaged is put there once more */
	if (lz_computed_get(r, s, i))
		return 0;
	const struct lz_frame f = {.type = LZ_FRAME_MARKERS,
	                           .codec = (uint8_t)codec,
	                           .raw_len = s->frames.v[i].count,
	                           .stored_len = (uint32_t)len,
	                           .key0 = s->frames.v[i].key0,
	                           .crc = libdeflate_crc32(0, packed, len)};
	return keep(s, i, &f, packed, limit) < 0 ? give_up(r, &s->computed) : 0;
}
