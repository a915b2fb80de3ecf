/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames: any byte changed is noticed, no length is believed. */
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <common/recording/frame.h>
#include <common/recording/worker.h>
#include <lizard/error.h>

static char path[] = "/tmp/lizard-frames-XXXXXX";
static int fd;

static void make_file(void)
{
	strcpy(path, "/tmp/lizard-frames-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
}

static void remove_file(void)
{
	close(fd);
	unlink(path);
}

/* 20 frames of every type; frame i holds 100 * i bytes i. */
enum { N = 20 };

static void write_frames(void)
{
	struct lz_worker *w = lz_worker_start();
	struct lz_out out = {.fd = fd, .name = (char *)"file"};

	for (unsigned i = 0; i < N; i++) {
		struct lz_frame f = {.type = (uint8_t)(1 + i % (LZ_FRAME_PAGES - 1)),
		                     .key0 = i,
		                     .key1 = ~(uint64_t)i,
		                     .count = i * 3,
		                     .flags = (uint16_t)(i * 1000)};
		struct lz_buf b = {0};

		for (unsigned k = 0; k < 100 * i; k++)
			lz_put_u8(&b, (uint8_t)i);
		ck_assert_int_eq(lz_worker_push(w, &out, &f, &b), 0);
	}
	ck_assert_int_eq(lz_worker_stop(w), 0);
}

static void check_frame(const struct lz_frames *fs, unsigned i, struct lz_buf *b)
{
	ck_assert_uint_eq(fs->v[i].key0, i);
	ck_assert_uint_eq(fs->v[i].key1, ~(uint64_t)i);
	ck_assert_uint_eq(fs->v[i].count, i * 3);
	ck_assert_uint_eq(fs->v[i].flags, (uint16_t)(i * 1000));
	ck_assert_msg(!lz_frames_read(fs, i, b), "%s", lz_error());
	ck_assert_uint_eq(b->len, 100 * i);
	for (unsigned k = 0; k < b->len; k++)
		ck_assert_uint_eq(b->p[k], i);
}

START_TEST(in_order)
{
	struct lz_frames fs;
	struct lz_buf b = {0};

	write_frames();
	ck_assert_int_eq(lz_frames_open(AT_FDCWD, path, &fs), 0);
	ck_assert_ptr_null(fs.end);
	ck_assert_uint_eq(fs.n, N);
	for (unsigned i = 0; i < N; i++)
		check_frame(&fs, i, &b);
	lz_buf_free(&b);
	lz_frames_close(&fs);
}
END_TEST

START_TEST(cached)
{
	struct lz_frame_cache c = {0};
	struct lz_frames fs;
	const struct lz_buf *b;

	write_frames();
	ck_assert_int_eq(lz_frames_open(AT_FDCWD, path, &fs), 0);
	for (unsigned k = 0; k < 1000; k++) {
		unsigned i = k * k % 7 + k / 77;

		b = lz_cache_get(&c, &fs, i);
		ck_assert_uint_eq(b->len, 100 * i);
		ck_assert(!b->len || b->p[b->len - 1] == i);
	}
	lz_cache_free(&c);
	lz_frames_close(&fs);
}
END_TEST

/* Every byte of the file in turn: frames before it are untouched, its own is refused. */
START_TEST(each_byte)
{
	off_t size;
	struct lz_buf b = {0};

	write_frames();
	size = lseek(fd, 0, SEEK_END);
	for (off_t at = 0; at < size; at++) {
		struct lz_frames fs;
		uint8_t old, new;
		unsigned bad = 0;

		ck_assert_int_eq(pread(fd, &old, 1, at), 1);
		new = old ^ (uint8_t)(1 << at % 8);
		ck_assert_int_eq(pwrite(fd, &new, 1, at), 1);
		ck_assert_int_eq(lz_frames_open(AT_FDCWD, path, &fs), 0);
		for (unsigned i = 0; i < fs.n; i++)
			if (lz_frames_read(&fs, i, &b) < 0)
				bad++;
		ck_assert_uint_eq(bad, fs.n == N ? 1 : 0);
		ck_assert(fs.n == N || fs.end);
		lz_frames_close(&fs);
		ck_assert_int_eq(pwrite(fd, &old, 1, at), 1);
	}
	lz_buf_free(&b);
}
END_TEST

START_TEST(cut)
{
	struct lz_frames fs, whole;
	off_t size;

	write_frames();
	size = lseek(fd, 0, SEEK_END);
	ck_assert_int_eq(lz_frames_open(AT_FDCWD, path, &whole), 0);
	for (off_t at = size - 1; at >= 0; at -= 13) {
		unsigned n = 0;
		bool even = false;

		ck_assert_int_eq(ftruncate(fd, at), 0);
		while (n < N && whole.v[n].payload + whole.v[n].stored_len <= (uint64_t)at)
			n++;
		even = n ? whole.v[n - 1].payload + whole.v[n - 1].stored_len == (uint64_t)at
		         : at == 0;
		ck_assert_int_eq(lz_frames_open(AT_FDCWD, path, &fs), 0);
		ck_assert_uint_eq(fs.n, n);
		ck_assert_int_eq(fs.end == NULL, even);
		lz_frames_close(&fs);
	}
	lz_frames_close(&whole);
}
END_TEST

/* Headers whose checksum is right and whose numbers are absurd. */
START_TEST(absurd)
{
	static const struct lz_frame bad[] = {
	    {.type = 0},
	    {.type = LZ_FRAME_TYPES},
	    {.type = LZ_FRAME_EVENTS, .codec = LZ_CODECS},
	    {.type = LZ_FRAME_EVENTS, .codec = LZ_CODEC_ZSTD, .raw_len = LZ_MAX_EVENTS_RAW + 1},
	    {.type = LZ_FRAME_MARKERS, .codec = LZ_CODEC_ZSTD, .raw_len = UINT32_MAX},
	    {.type = LZ_FRAME_PAGES, .codec = LZ_CODEC_ZLIB, .raw_len = 1 << 20, .stored_len = 100},
	    {.type = LZ_FRAME_SYNC, .codec = LZ_CODEC_RAW, .raw_len = 12, .stored_len = 13},
	    {.type = LZ_FRAME_SYNC, .codec = LZ_CODEC_ZSTD, .raw_len = 12, .stored_len = 13},
	    /* more by one is none at all */
	    {.type = LZ_FRAME_SYNC,
	     .codec = LZ_CODEC_ZSTD,
	     .raw_len = 12,
	     .stored_len = UINT32_MAX},
	};
	struct lz_frame ok = {.type = LZ_FRAME_SYNC, .raw_len = 12, .stored_len = 12}, back;
	uint8_t h[LZ_FRAME_HEADER];

	lz_frame_pack(&ok, h);
	ck_assert_int_eq(lz_frame_unpack(h, &back), 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		lz_frame_pack(&bad[i], h);
		ck_assert_msg(lz_frame_unpack(h, &back) == -1, "%u", i);
	}
	/* Longer than the file. */
	ok.raw_len = ok.stored_len = 1 << 20;
	lz_frame_pack(&ok, h);
	struct lz_frames fs;
	ck_assert_int_eq(write(fd, h, sizeof(h)), sizeof(h));
	ck_assert_int_eq(lz_frames_open(AT_FDCWD, path, &fs), 0);
	ck_assert_uint_eq(fs.n, 0);
	ck_assert_ptr_nonnull(strstr(fs.end, "cut"));
	lz_frames_close(&fs);
}
END_TEST

/* Other than a plain file in its place: an error, no waiting. */
START_TEST(no_file)
{
	struct lz_frames fs;

	ck_assert_int_eq(lz_frames_open(AT_FDCWD, "/nonexistent", &fs), 0);
	ck_assert_int_eq(fs.fd, -1);
	lz_frames_close(&fs);
	ck_assert_int_eq(lz_frames_open(AT_FDCWD, "/tmp", &fs), -1);
	ck_assert_int_eq(lz_frames_open(AT_FDCWD, "/dev/zero", &fs), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("frame");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, make_file, remove_file);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, in_order);
	tcase_add_test(t, cached);
	tcase_add_test(t, each_byte);
	tcase_add_test(t, cut);
	tcase_add_test(t, absurd);
	tcase_add_test(t, no_file);
	suite_add_tcase(s, t);
	return run_suite(s);
}
