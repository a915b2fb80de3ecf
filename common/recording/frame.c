/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/array.h>
#include <libdeflate.h>
#include <common/recording/codec.h>
#include <common/recording/frame.h>
#include <lizard/error.h>

void lz_frame_pack(const struct lz_frame *f, uint8_t out[LZ_FRAME_HEADER])
{
	struct lz_buf b = {.p = out, .cap = LZ_FRAME_HEADER};

	lz_put_u32(&b, LZ_FRAME_MAGIC);
	lz_put_u8(&b, f->type);
	lz_put_u8(&b, f->codec);
	lz_put(&b, &f->flags, 2);
	lz_put_u32(&b, f->raw_len);
	lz_put_u32(&b, f->stored_len);
	lz_put_u32(&b, f->count);
	lz_put_u64(&b, f->key0);
	lz_put_u64(&b, f->key1);
	lz_put_u32(&b, f->crc);
	lz_put_u32(&b, libdeflate_crc32(0, out, LZ_FRAME_HEADER - 4));
}

static uint32_t raw_limit(unsigned type)
{
	static const uint32_t limit[LZ_FRAME_TYPES] = {
	    [LZ_FRAME_EVENTS] = LZ_MAX_EVENTS_RAW, [LZ_FRAME_FILE] = LZ_MAX_FILE_RAW,
	    [LZ_FRAME_SYNC] = LZ_MAX_SYNC_RAW,     [LZ_FRAME_MARKERS] = LZ_BLOCK_MAX,
	    [LZ_FRAME_HEAD] = LZ_MAX_HEAD_RAW,     [LZ_FRAME_PAGES] = LZ_MAX_PAGES_RAW,
	    [LZ_FRAME_CHUNK] = LZ_CHUNK_MAX,
	};
	return type < LZ_FRAME_TYPES ? limit[type] : 0;
}

/* Deflate packs at most 1032 to 1, LZ4 255 to 1: more is a lie that would only cost memory. */
static int check_lengths(const struct lz_frame *f)
{
	if (f->stored_len > f->raw_len)
		return lz_fail("frame claims to store %u bytes for %u", f->stored_len, f->raw_len);
	if (f->raw_len > raw_limit(f->type))
		return lz_fail("frame of type %u claims %u bytes, the limit is %u", f->type,
		               f->raw_len, raw_limit(f->type));
	if (f->codec == LZ_CODEC_RAW && f->raw_len != f->stored_len)
		return lz_fail("unpacked frame claims %u bytes and stores %u", f->raw_len,
		               f->stored_len);
	if (f->codec == LZ_CODEC_ZLIB && f->raw_len / 1040 > f->stored_len)
		return lz_fail("frame claims %u bytes from %u", f->raw_len, f->stored_len);
	if (f->codec == LZ_CODEC_LZ4 && f->raw_len / 256 > f->stored_len)
		return lz_fail("frame claims %u bytes from %u", f->raw_len, f->stored_len);
	return 0;
}

int lz_frame_unpack(const uint8_t in[LZ_FRAME_HEADER], struct lz_frame *f)
{
	struct lz_cur c = {.p = in, .end = in + LZ_FRAME_HEADER};
	const uint8_t *flags;

	if (lz_get_u32(&c) != LZ_FRAME_MAGIC)
		return lz_fail("no frame begins here");
	f->type = lz_get_u8(&c);
	f->codec = lz_get_u8(&c);
	flags = lz_get(&c, 2);
	memcpy(&f->flags, flags, 2);
	f->raw_len = lz_get_u32(&c);
	f->stored_len = lz_get_u32(&c);
	f->count = lz_get_u32(&c);
	f->key0 = lz_get_u64(&c);
	f->key1 = lz_get_u64(&c);
	f->crc = lz_get_u32(&c);
	if (lz_get_u32(&c) != libdeflate_crc32(0, in, LZ_FRAME_HEADER - 4))
		return lz_fail("checksum of a frame header is wrong");
	if (!f->type || f->type >= LZ_FRAME_TYPES || f->codec >= LZ_CODECS)
		return lz_fail("unknown frame type %u or compression %u", f->type, f->codec);
	return check_lengths(f);
}

int lz_frame_at(int fd, uint64_t at, uint64_t size, struct lz_frame *f)
{
	uint8_t h[LZ_FRAME_HEADER];
	ssize_t n;

	if (at == size)
		return 0;
	n = pread(fd, h, sizeof(h), (off_t)at);
	if (n < 0)
		return lz_fail_errno("cannot read");
	if (n < (ssize_t)sizeof(h))
		return lz_fail("the file was cut in a frame's header");
	if (lz_frame_unpack(h, f) < 0)
		return -1;
	f->fd = fd;
	f->payload = at + LZ_FRAME_HEADER;
	if (f->stored_len > size - f->payload)
		return lz_fail("the file was cut in a frame's contents");
	return 1;
}

static int scan(struct lz_frames *fs, int fd, const char *name, uint64_t size)
{
	uint64_t at = 0;
	struct lz_frame f;
	int rc;

	while ((rc = lz_frame_at(fd, at, size, &f)) > 0) {
		if (lz_reserve(fs->v, fs->room, fs->n + 1u) < 0)
			return lz_fail("%s: no memory for its frames", name);
		fs->v[fs->n++] = f;
		at = f.payload + f.stored_len;
	}
	if (rc < 0 &&
	    asprintf(&fs->end, "%s, byte %llu: %s", name, (unsigned long long)at, lz_error()) < 0)
		return lz_fail("%s: no memory", name);
	return 0;
}

/* A missing file is no error: *fd is -1 then. */
static int open_file(int dirfd, const char *name, uint64_t *size, int *fd)
{
	struct stat st;

	/* A FIFO put in the file's place must not hang us, a link lead to a device. */
	*fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (*fd < 0)
		return errno == ENOENT ? 0 : lz_fail_errno("cannot open %s", name);
	if (fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(*fd);
		*fd = -1;
		return lz_fail("%s is not a file", name);
	}
	*size = (uint64_t)st.st_size;
	return 0;
}

int lz_frames_open(int dirfd, const char *name, struct lz_frames *fs)
{
	memset(fs, 0, sizeof(*fs));
	if (open_file(dirfd, name, &fs->bytes, &fs->fd) < 0)
		return -1;
	if (fs->fd >= 0 && scan(fs, fs->fd, name, fs->bytes) < 0) {
		lz_frames_close(fs);
		return -1;
	}
	return 0;
}

int lz_frames_append(int dirfd, const char *name, struct lz_frames *fs)
{
	uint64_t size;
	int fd;

	if (fs->end || fs->fd < 0)
		return 0;
	if (lz_extend(fs->more, fs->n_more) < 0)
		return lz_fail("%s: no memory", name);
	if (open_file(dirfd, name, &size, &fd) < 0)
		return -1;
	if (fd < 0)
		return asprintf(&fs->end, "%s is missing", name) < 0 ? lz_fail("no memory") : 0;
	fs->more[fs->n_more++] = fd;
	fs->bytes += size;
	return scan(fs, fd, name, size);
}

void lz_frames_close(struct lz_frames *fs)
{
	if (fs->fd >= 0)
		close(fs->fd);
	for (uint32_t i = 0; i < fs->n_more; i++)
		close(fs->more[i]);
	free(fs->more);
	free(fs->v);
	free(fs->end);
	memset(fs, 0, sizeof(*fs));
	fs->fd = -1;
}

static int read_stored(const struct lz_frame *f, uint8_t *buf)
{
	size_t done = 0;

	while (done < f->stored_len) {
		ssize_t n =
		    pread(f->fd, buf + done, f->stored_len - done, (off_t)(f->payload + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lz_fail_errno("cannot read");
		if (n == 0)
			return lz_fail("the file has become shorter");
		done += (size_t)n;
	}
	return 0;
}

static int unpack_into(const struct lz_frame *f, uint8_t *stored, struct lz_buf *out)
{
	uint8_t *raw;

	if (read_stored(f, stored) < 0)
		return -1;
	if (libdeflate_crc32(0, stored, f->stored_len) != f->crc)
		return lz_fail("checksum is wrong");
	raw = lz_buf_room(out, f->raw_len + 1u);
	if (!raw)
		return lz_fail("no memory for %u bytes", f->raw_len);
	if (lz_unpack(f->codec, stored, f->stored_len, raw, f->raw_len) < 0)
		return -1;
	out->len = f->raw_len;
	return 0;
}

int lz_frame_read(const struct lz_frame *f, struct lz_buf *out)
{
	uint8_t *stored = malloc(f->stored_len + 1u);
	int rc;

	out->len = 0;
	out->failed = false;
	if (!stored)
		return lz_fail("no memory for a frame of %u bytes", f->stored_len);
	rc = unpack_into(f, stored, out);
	free(stored);
	return rc;
}

int lz_frames_read(const struct lz_frames *fs, uint32_t i, struct lz_buf *out)
{
	const struct lz_frame *f = &fs->v[i];
	int rc = lz_frame_read(f, out);

	if (rc < 0)
		lz_fail_in("frame %u (byte %llu)", i,
		           (unsigned long long)(f->payload - LZ_FRAME_HEADER));
	return rc;
}

const struct lz_buf *lz_cache_find(struct lz_frame_cache *c, uint32_t i)
{
	for (unsigned k = 0; k < LZ_CACHE_SLOTS; k++) {
		if (!c->slot[k].used || c->slot[k].frame != i)
			continue;
		c->slot[k].used = ++c->clock;
		return &c->slot[k].buf;
	}
	return NULL;
}

struct lz_cache_slot *lz_cache_oldest(struct lz_frame_cache *c)
{
	struct lz_cache_slot *s = &c->slot[0];

	for (unsigned k = 1; k < LZ_CACHE_SLOTS; k++)
		if (c->slot[k].used < s->used)
			s = &c->slot[k];
	s->used = 0;
	return s;
}

void lz_cache_filled(struct lz_frame_cache *c, struct lz_cache_slot *s, uint32_t i)
{
	s->frame = i;
	s->used = ++c->clock;
}

const struct lz_buf *lz_cache_get(struct lz_frame_cache *c, const struct lz_frames *fs, uint32_t i)
{
	const struct lz_buf *found = lz_cache_find(c, i);
	struct lz_cache_slot *s;

	if (found)
		return found;
	s = lz_cache_oldest(c);
	if (lz_frames_read(fs, i, &s->buf) < 0)
		return NULL;
	lz_cache_filled(c, s, i);
	return &s->buf;
}

void lz_cache_free(struct lz_frame_cache *c)
{
	for (unsigned k = 0; k < LZ_CACHE_SLOTS; k++)
		lz_buf_free(&c->slot[k].buf);
	memset(c, 0, sizeof(*c));
}
