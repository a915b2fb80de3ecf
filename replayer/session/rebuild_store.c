/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/session/rebuild_store.h"
#include <common/recording/codec.h>
#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two files take turns: when the one that is written is full, the other one is emptied and
 * written. */
enum { HALVES = 2 };

struct place {
	uint8_t half; /* 1 + its number; 0: not kept */
	uint8_t codec;
	uint32_t stored;
	uint64_t at;
};

struct packed {
	int codec;
	const uint8_t *bytes;
	size_t len;
};

struct lz_store {
	struct place *v;
	uint32_t n;
	struct half {
		int fd;
		uint64_t size;
	} half[HALVES];
	unsigned now;
	uint64_t limit;       /* of a half */
	char *where;          /* for messages */
	struct lz_buf packed; /* one that is read */
};

static int open_nameless(struct lz_store *s, const char *dir)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	free(s->where);
	s->where = strdup(fd >= 0 ? dir : tmp && *tmp ? tmp : "/tmp");
	if (!s->where && fd >= 0)
		close(fd);
	if (!s->where)
		return lz_fail("out of memory");
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "%s/lizard-XXXXXX", s->where);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd < 0 ? lz_fail_errno("cannot make a file for computed markers at %s", path) : fd;
}

struct lz_store *lz_store_new(const char *dir, uint32_t n_blocks, uint64_t limit)
{
	struct lz_store *s = calloc(1, sizeof *s);

	if (s)
		s->v = calloc(n_blocks + 1u, sizeof *s->v);
	if (!s || !s->v) {
		free(s);
		lz_fail("out of memory");
		return NULL;
	}
	s->n = n_blocks;
	s->limit = limit / HALVES;
	s->half[0].fd = s->half[1].fd = -1;
	for (int i = 0; i < HALVES; i++) {
		s->half[i].fd = open_nameless(s, dir);
		if (s->half[i].fd >= 0)
			continue;
		lz_store_free(s);
		return NULL;
	}
	return s;
}

void lz_store_free(struct lz_store *s)
{
	if (!s)
		return;
	for (int i = 0; i < HALVES; i++)
		if (s->half[i].fd >= 0)
			close(s->half[i].fd);
	free(s->where);
	lz_buf_free(&s->packed);
	free(s->v);
	free(s);
}

bool lz_store_has(const struct lz_store *s, uint32_t block)
{
	return block < s->n && s->v[block].half;
}

static int read_all(int fd, uint8_t *buf, size_t len, uint64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, buf + done, len - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? lz_fail_errno("cannot read computed markers")
			         : lz_fail("computed markers are missing");
		done += (size_t)n;
	}
	return 0;
}

static int write_all(const struct lz_store *s, const uint8_t *buf, size_t len, const struct half *h)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(h->fd, buf + done, len - done, (off_t)(h->size + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lz_fail_errno("cannot keep computed markers in %s", s->where);
		done += (size_t)n;
	}
	return 0;
}

int lz_store_get(struct lz_store *s, uint32_t block, uint8_t *buf, size_t len)
{
	if (!lz_store_has(s, block))
		return 1;
	const struct place *p = &s->v[block];
	s->packed.len = 0;
	s->packed.failed = false;
	uint8_t *in = lz_buf_room(&s->packed, p->stored);
	if (!in)
		return lz_fail("out of memory");
	if (read_all(s->half[p->half - 1].fd, in, p->stored, p->at) < 0)
		return -1;
	return lz_unpack(p->codec, in, p->stored, buf, len);
}

/* The other half is emptied and written from now on. */
static int turn(struct lz_store *s)
{
	s->now = (s->now + 1) % HALVES;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].half == s->now + 1)
			s->v[i].half = 0;
	s->half[s->now].size = 0;
	return ftruncate(s->half[s->now].fd, 0) < 0
	           ? lz_fail_errno("cannot throw computed markers away")
	           : 0;
}

static int append(struct lz_store *s, uint32_t block, const struct packed *p)
{
	struct half *h = &s->half[s->now];

	if (write_all(s, p->bytes, p->len, h) < 0)
		return -1;
	s->v[block] =
	    (struct place){(uint8_t)(s->now + 1), (uint8_t)p->codec, (uint32_t)p->len, h->size};
	h->size += p->len;
	return 0;
}

static bool is_full(void)
{
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
}

/* There is no more room than what we have already. The older half goes first; if only one has
 * anything, that. */
static int make_do(struct lz_store *s, uint32_t block, const struct packed *p)
{
	uint64_t room = (s->half[0].size + s->half[1].size) / HALVES;

	if (room < p->len)
		return -1;
	s->limit = room;
	for (int i = 0; i < HALVES; i++) {
		if (turn(s) < 0)
			return -1;
		if (append(s, block, p) == 0)
			return 0;
		if (!is_full())
			return -1;
	}
	return -1;
}

int lz_store_put(struct lz_store *s, uint32_t block, int codec, const uint8_t *bytes, size_t len)
{
	const struct packed p = {codec, bytes, len};

	if (block >= s->n || s->v[block].half)
		return 0;
	if (s->half[s->now].size + len > s->limit && turn(s) < 0)
		return -1;
	if (append(s, block, &p) == 0)
		return 0;
	return is_full() ? make_do(s, block, &p) : -1;
}
