/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers lent to the thread that empties them: the recorded stream is what was written, in its order, and a buffer is
 * empty when it comes round again. */
#include "tests/unit/suite.h"

#include <check.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/recording.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "tracer/log/gather.h"

enum { TID = 5 };

static char dir[64];
static struct lz_writer *w;
static uint8_t *ring, *buffer;
static struct lz_gather *g;
static uint64_t offset; /* in the stream */

static struct lz_meta meta = {
    .program = "/bin/prog",
    .build_id = "",
    .cwd = "/",
    .argv = (char *[]){"prog", NULL},
    .envp = (char *[]){NULL},
    .host = "",
    .kernel = "",
    .cpu = "",
    .features = "",
    .tid = TID,
};

static void begin(void)
{
	cpu_set_t cpus;

	strcpy(dir, "/tmp/lizard-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("LIZARD_TRACE_DIR", dir, 1);
	w = lz_writer_create(NULL, &meta);
	ck_assert_ptr_nonnull(w);
	ring = buffer = calloc(1, LZ_RING_SIZE);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	g = lz_gather_start(w, TID, ring, &cpus);
	ck_assert_ptr_nonnull(g);
}

static void end(void)
{
	char cmd[128];

	lz_gather_stop(g);
	if (w)
		lz_writer_abandon(w);
	free(ring);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(1 + (i * i / 7 + i / 61440) % LZ_EDGE_MAX);
}

/* As a program does that fills the current buffer; what is there must be zero. */
static void fill(uint32_t from, uint32_t to)
{
	unsigned left = 0;

	for (uint32_t i = from; i < to; i++) {
		left += buffer[i] != 0;
		buffer[i] = byte_at(offset++);
	}
	ck_assert_uint_eq(left, 0);
}

static int lend(uint32_t from, uint32_t to)
{
	int ret = lz_gather_lend(g, from, to);

	buffer = ring + (buffer - ring + LZ_BUFFER_SIZE) % LZ_RING_SIZE;
	return ret;
}

static void check_stream(void)
{
	char *path = strdup(lz_writer_dir(w));
	static uint8_t got[61440];

	ck_assert_int_eq(lz_writer_finish(w, &meta), 0);
	w = NULL;
	struct lz_reader *r = lz_reader_open(path);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(lz_reader_markers_len(r, TID), offset);
	for (uint64_t at = 0; at < offset;) {
		int64_t n = lz_reader_markers(r, TID, at, got, sizeof(got));
		ck_assert_int_gt(n, 0);
		unsigned wrong = 0;

		for (int64_t i = 0; i < n; i++)
			wrong += got[i] != byte_at(at + (uint64_t)i);
		ck_assert_uint_eq(wrong, 0);
		at += (uint64_t)n;
	}
	lz_reader_close(r);
	free(path);
}

/* Faster than the thread comes round: the ring is full again and again. */
START_TEST(faster_than_the_thread)
{
	for (int i = 0; i < 300; i++) {
		fill(0, LZ_BUFFER_GUARD);
		ck_assert_int_eq(lend(0, LZ_BUFFER_GUARD), 0);
	}
	ck_assert_int_eq(lz_gather_all(g), 0);
	check_stream();
}
END_TEST

/* After a pause in which the thread has gone to sleep it must be woken. */
START_TEST(slower_than_the_thread)
{
	for (int i = 0; i < 40; i++) {
		uint8_t *full = buffer;

		fill(0, LZ_BUFFER_GUARD - 3);
		ck_assert_int_eq(lend(0, LZ_BUFFER_GUARD - 3), 0);
		for (int ms = 0; full[0] && ms < 5000; ms++)
			usleep(1000);
		ck_assert_uint_eq(full[0], 0);
		if (i % 10 == 0)
			usleep(200000);
	}
	check_stream();
}
END_TEST

/* A flush takes what is in a buffer that is not full yet. */
START_TEST(parts)
{
	for (int i = 0; i < 50; i++) {
		uint32_t half = (uint32_t)(i * 1000);

		fill(0, half);
		if (i % 3 == 0) {
			ck_assert_int_eq(lz_gather_all(g), 0);
			ck_assert_int_eq(lz_writer_markers(w, TID, buffer, half), 0);
		}
		fill(half, LZ_BUFFER_GUARD);
		ck_assert_int_eq(lend(i % 3 == 0 ? half : 0, LZ_BUFFER_GUARD), 0);
	}
	ck_assert_int_eq(lz_gather_all(g), 0);
	check_stream();
}
END_TEST

/* A writer that fails is reported, and nobody waits for ever. */
START_TEST(full_disk)
{
	struct rlimit limit = {1 << 20, 1 << 20};
	int failed = 0;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 2000 && !failed; i++) {
		for (uint32_t k = 0; k < LZ_BUFFER_GUARD; k++)
			buffer[k] = (uint8_t)(1 + (uint32_t)rand() % LZ_EDGE_MAX);
		failed = lend(0, LZ_BUFFER_GUARD) < 0;
	}
	ck_assert_int_eq(failed, 1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "markers-5"));
	ck_assert_int_eq(lz_gather_all(g), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gather");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, faster_than_the_thread);
	tcase_add_test(t, slower_than_the_thread);
	tcase_add_test(t, parts);
	tcase_add_test(t, full_disk);
	suite_add_tcase(s, t);
	return run_suite(s);
}
