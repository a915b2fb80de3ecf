/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tools that change recordings have in common: files, and frames that are put together
 * again with right checksums. */
#ifndef LIZARD_TESTS_FUZZ_PIECES_H
#define LIZARD_TESTS_FUZZ_PIECES_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <common/recording/codec.h>
#include <common/recording/frame.h>
#include <lizard/error.h>

static inline void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, lz_error());
	exit(1);
}

static inline struct lz_buf slurp(const char *name)
{
	struct lz_buf b = {0};
	FILE *f = fopen(name, "rb");
	uint8_t part[65536];
	size_t n;

	if (!f)
		die(name);
	while ((n = fread(part, 1, sizeof(part), f)))
		lz_put(&b, part, n);
	fclose(f);
	return b;
}

/* In a new file: the old one may be a link that another recording has, too. */
static inline void spill(const char *name, const void *p, size_t n)
{
	FILE *f;

	unlink(name);
	f = fopen(name, "wb");
	if (!f || fchmod(fileno(f), 0600) < 0 || fwrite(p, 1, n, f) != n || fclose(f))
		die(name);
}

struct piece {
	struct lz_frame f;
	uint8_t *stored;
};

struct pieces {
	struct piece *v;
	uint32_t n;
};

static inline struct pieces take_apart(const char *name)
{
	struct lz_frames fs;
	struct lz_buf b = slurp(name);
	struct pieces p = {0};

	if (lz_frames_open(AT_FDCWD, name, &fs) < 0)
		die(name);
	p.n = fs.n;
	p.v = calloc(fs.n + 1u, sizeof(*p.v));
	for (uint32_t i = 0; i < fs.n; i++) {
		p.v[i].f = fs.v[i];
		p.v[i].stored = malloc(fs.v[i].stored_len + 1u);
		memcpy(p.v[i].stored, b.p + fs.v[i].payload, fs.v[i].stored_len);
	}
	lz_frames_close(&fs);
	lz_buf_free(&b);
	return p;
}

static inline void put_together(const struct pieces *p, const char *name)
{
	struct lz_buf out = {0};

	for (uint32_t i = 0; i < p->n; i++) {
		uint8_t h[LZ_FRAME_HEADER];

		lz_frame_pack(&p->v[i].f, h);
		lz_put(&out, h, sizeof(h));
		lz_put(&out, p->v[i].stored, p->v[i].f.stored_len);
	}
	spill(name, out.p, out.len);
	lz_buf_free(&out);
}

static inline void pieces_free(struct pieces *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->v[i].stored);
	free(p->v);
	*p = (struct pieces){0};
}

static inline void fix_checksum(struct piece *p)
{
	p->f.crc = (uint32_t)crc32_z(0, p->stored, p->f.stored_len);
}

/* The unpacked contents, for the caller to free. */
static inline struct lz_buf piece_raw(const struct piece *p)
{
	struct lz_buf raw = {.p = malloc(p->f.raw_len + 1u), .len = p->f.raw_len};

	if (lz_unpack(p->f.codec, p->stored, p->f.stored_len, raw.p, raw.len) < 0)
		die("unpack");
	return raw;
}

/* RAW are its contents from now on, stored as they are. Takes RAW's memory. */
static inline void piece_set(struct piece *p, struct lz_buf *raw)
{
	free(p->stored);
	p->stored = raw->p;
	p->f.codec = LZ_CODEC_RAW;
	p->f.raw_len = p->f.stored_len = (uint32_t)raw->len;
	fix_checksum(p);
	*raw = (struct lz_buf){0};
}

#endif
