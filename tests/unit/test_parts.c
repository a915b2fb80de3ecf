/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording that keeps its last part only: it stays below its limit, and what is left reads as it was written. */
#include "tests/unit/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/recording/parts.h>
#include <lizard/error.h>
#include <lizard/recording.h>

enum {
	PAGES = 20,
	EVENTS_EACH = 40,
	MARKERS_EACH = 30000,
	BUFFER = 40000, /* bytes of the stream that are in the marker buffer */
	STEPS = 200,
	LIMIT = 3 << 20
};
#define BASE 0x400000ull

static char dir[64], path[80];

static void make_dir(void)
{
	strcpy(dir, "/tmp/lizard-parts-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("LIZARD_TRACE_DIR", dir, 1);
	snprintf(path, sizeof(path), "%s/r", dir);
}

static void remove_dir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9E3779B97F4A7C15ull;
	x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ull;
	return x ^ x >> 32;
}

static uint8_t stream_byte(uint64_t i)
{
	return (uint8_t)(1 + mixed(i) % 0xEF);
}

/* No compression helps. */
static void fill_page(uint8_t *page, uint64_t ck, unsigned p)
{
	for (unsigned i = 0; i < LZ_PAGE; i += 8) {
		uint64_t v = mixed(ck << 32 | p << 16 | i);

		memcpy(page + i, &v, 8);
	}
}

static uint64_t changed_at(uint64_t ck, unsigned p)
{
	return p % 4 ? ck - ck % (p % 4 * 3) : ck;
}

static void put_checkpoint(struct lz_writer *w, uint64_t n, bool whole, const uint32_t *file)
{
	static uint8_t now[PAGES][LZ_PAGE];
	const uint8_t *pages[PAGES], *prev[PAGES] = {0};
	uint64_t dirty[PAGES], marker = n * MARKERS_EACH;
	uint8_t xstate[64] = {(uint8_t)n};
	struct lz_vma vma = {
	    BASE, BASE + PAGES * LZ_PAGE, 3, 2, file ? *file : LZ_NO_FILE, LZ_VMA_PLAIN, 0};
	struct lz_thread_state t = {.tid = 77,
	                            .xstate = xstate,
	                            .xstate_len = sizeof(xstate),
	                            .marker = marker,
	                            .buffer = 0x10000,
	                            .buffer_start = marker < BUFFER ? 0 : marker - BUFFER};
	struct lz_checkpoint ck = {.whole = whole || lz_writer_part_due(w),
	                           .pos = {77, 1, n * EVENTS_EACH, marker, 0x401234},
	                           .time_ns = n,
	                           .stack_start = n + 7,
	                           .pos_offset = n + 8,
	                           .threads = &t,
	                           .n_threads = 1,
	                           .vmas = &vma,
	                           .n_vmas = 1,
	                           .dirty = dirty};

	for (unsigned p = 0; p < PAGES; p++) {
		if (!ck.whole && changed_at(n, p) != n)
			continue;
		fill_page(now[p], changed_at(n, p), p);
		pages[ck.n_dirty] = now[p];
		dirty[ck.n_dirty++] = BASE + p * LZ_PAGE;
	}
	ck_assert_msg(!lz_writer_checkpoint(w, &ck, pages, ck.whole ? NULL : prev), "%s",
	              lz_error());
	ck_assert_uint_eq(ck.index, n);
}

static void put_step(struct lz_writer *w, uint64_t n)
{
	uint8_t bytes[MARKERS_EACH];

	for (uint64_t i = 0; i < MARKERS_EACH; i++)
		bytes[i] = stream_byte(n * MARKERS_EACH + i);
	ck_assert_int_eq(lz_writer_markers(w, 77, bytes, sizeof(bytes)), 0);
	for (uint64_t i = n * EVENTS_EACH; i < (n + 1) * EVENTS_EACH; i++) {
		struct lz_event ev = {
		    .kind = LZ_EV_SYSCALL, .tid = 77, .marker = i, .nr = mixed(i)};

		ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	}
}

/* Of all but meta and copies. */
static uint64_t on_disk(void)
{
	DIR *d = opendir(path);
	struct dirent *e;
	uint64_t sum = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d))) {
		struct stat st;

		if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
		    strncmp(e->d_name, "meta", 4))
			sum += (uint64_t)st.st_size;
	}
	closedir(d);
	return sum;
}

static struct lz_meta meta = {.program = "/bin/true", .tid = 77};

static struct lz_writer *begin(uint64_t limit)
{
	struct lz_writer *w = lz_writer_create(path, &meta);

	ck_assert_msg(w, "%s", lz_error());
	ck_assert_int_eq(lz_writer_keep_last(w, limit), 0);
	return w;
}

static uint64_t record(uint64_t steps, bool finish)
{
	struct lz_writer *w = begin(LIMIT);
	uint64_t most = 0;

	for (uint64_t n = 0; n < steps; n++) {
		uint64_t now;

		put_checkpoint(w, n, n % 16 == 0, NULL);
		put_step(w, n);
		ck_assert_int_eq(lz_writer_flush(w), 0);
		now = on_disk();
		most = now > most ? now : most;
	}
	if (finish)
		ck_assert_msg(!lz_writer_finish(w, &meta), "%s", lz_error());
	else
		lz_writer_abandon(w);
	return most;
}

static void check_image(struct lz_image *im, uint64_t n)
{
	uint8_t want[LZ_PAGE];

	for (unsigned p = 0; p < PAGES; p++) {
		fill_page(want, changed_at(n, p), p);
		ck_assert_mem_eq(lz_image_page(im, BASE + p * LZ_PAGE), want, LZ_PAGE);
	}
}

/* All that is left, up to the beginning of step STEPS; returns at which step it begins. */
static uint64_t check_all(struct lz_reader *r, uint64_t steps)
{
	uint64_t first = lz_reader_first_event(r) / EVENTS_EACH, at = first * MARKERS_EACH, start,
	         len;
	struct lz_image *im = lz_image_new(r);
	uint8_t *buf = malloc(steps * MARKERS_EACH);

	ck_assert_uint_eq(lz_reader_first_event(r), first * EVENTS_EACH);
	ck_assert_uint_eq(lz_reader_first_marker(r), first * MARKERS_EACH);
	ck_assert_uint_eq(lz_reader_n_events(r), steps * EVENTS_EACH);
	for (uint64_t i = lz_reader_first_event(r); i < lz_reader_n_events(r); i++) {
		const struct lz_event *ev = lz_reader_event(r, i);

		ck_assert_msg(ev, "%s", lz_error());
		ck_assert_uint_eq(ev->nr, mixed(i));
		ck_assert_uint_eq(ev->index, i);
	}
	ck_assert(!first || !lz_reader_event(r, lz_reader_first_event(r) - 1));
	for (uint32_t i = 0; i < lz_reader_n_blocks(r, 77); i++) {
		ck_assert_int_eq(lz_reader_block(r, 77, i, &start, &len), 0);
		ck_assert_uint_eq(start, at);
		at += len;
	}
	ck_assert_uint_eq(at, steps * MARKERS_EACH);
	at = lz_reader_first_marker(r);
	at = at < BUFFER ? 0 : at - BUFFER;
	len = steps * MARKERS_EACH - at;
	ck_assert_int_eq(lz_reader_markers(r, 77, at, buf, len), (int64_t)len);
	for (uint64_t i = 0; i < len; i++)
		if (buf[i] != stream_byte(at + i))
			ck_abort_msg("marker byte %llu", (unsigned long long)(at + i));
	ck_assert(!at || lz_reader_markers(r, 77, at - 1, buf, 1) < 0);
	for (uint32_t i = 0; i < lz_reader_n_checkpoints(r); i++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);

		ck_assert_msg(ck, "%s", lz_error());
		ck_assert_uint_eq(ck->index, i);
		ck_assert_uint_eq(ck->time_ns, first + i);
		ck_assert_uint_eq(ck->stack_start, first + i + 7);
		ck_assert_uint_eq(ck->pos_offset, first + i + 8);
		ck_assert_msg(!lz_image_seek(im, i), "%s", lz_error());
		check_image(im, first + i);
	}
	free(buf);
	lz_image_free(im);
	return first;
}

START_TEST(last_part)
{
	uint64_t most = record(STEPS, true), first;
	struct lz_reader *r = lz_reader_open(path);

	ck_assert_msg(r, "%s", lz_error());
	ck_assert_msg(!lz_reader_damage(r), "%s", lz_reader_damage(r));
	ck_assert(lz_reader_begins_later(r));
	first = check_all(r, STEPS);
	ck_assert_uint_eq(lz_reader_n_checkpoints(r), STEPS - first);
	ck_assert_uint_le(most, LIMIT);
	ck_assert_uint_le(on_disk(), LIMIT);
	ck_assert_uint_ge(on_disk(), LIMIT / 2);
	lz_reader_close(r);
}
END_TEST

START_TEST(short_run)
{
	record(5, true);
	struct lz_reader *r = lz_reader_open(path);

	ck_assert_msg(r, "%s", lz_error());
	ck_assert(!lz_reader_begins_later(r));
	ck_assert_uint_eq(check_all(r, 5), 0);
	lz_reader_close(r);
}
END_TEST

/* The numbers of the parts that there are. */
static uint32_t parts(uint32_t *first)
{
	DIR *d = opendir(path);
	struct dirent *e;
	uint32_t n = 0;

	*first = UINT32_MAX;
	while ((e = readdir(d))) {
		int64_t number = lz_part_of(e->d_name, "checkpoints");

		if (number >= 0) {
			n++;
			*first = number < *first ? (uint32_t)number : *first;
		}
	}
	closedir(d);
	return n;
}

static void remove_file(const char *name, uint32_t part)
{
	char file[LZ_PART_NAME], all[160];

	lz_part_name(name, part, file);
	snprintf(all, sizeof(all), "%s/%s", path, file);
	ck_assert_int_eq(unlink(all), 0);
}

/* As if the tracer had been killed while the oldest part went, or while a new one began. */
START_TEST(killed_between)
{
	uint32_t first, n;
	struct lz_reader *r;
	uint64_t begin_at;

	record(STEPS, false);
	n = parts(&first);
	ck_assert_uint_gt(n, 4);
	r = lz_reader_open(path);
	ck_assert_msg(r && lz_reader_damage(r), "%s", lz_error());
	begin_at = check_all(r, STEPS);
	lz_reader_close(r);

	remove_file("checkpoints", first);
	r = lz_reader_open(path);
	ck_assert_msg(r, "%s", lz_error());
	ck_assert_uint_gt(check_all(r, STEPS), begin_at);
	lz_reader_close(r);

	remove_file("checkpoints", first + n - 1);
	r = lz_reader_open(path);
	ck_assert_msg(r, "%s", lz_error());
	ck_assert_uint_lt(lz_reader_n_events(r), STEPS * EVENTS_EACH);
	check_all(r, lz_reader_n_events(r) / EVENTS_EACH);
	lz_reader_close(r);
}
END_TEST

/* What lies behind a part that is missing is not used. */
START_TEST(gap)
{
	uint32_t first, n;
	struct lz_reader *r;

	record(STEPS, true);
	n = parts(&first);
	ck_assert_uint_gt(n, 4);
	remove_file("checkpoints", first + 2);
	r = lz_reader_open(path);
	ck_assert_msg(r, "%s", lz_error());
	ck_assert_ptr_nonnull(strstr(lz_reader_damage(r), "missing"));
	check_all(r, lz_reader_n_events(r) / EVENTS_EACH);
	lz_reader_close(r);
}
END_TEST

/* A part's files cut at any length: what is left is consistent. */
START_TEST(cut)
{
	static const char *const names[] = {"events", "markers-77", "checkpoints"};
	uint32_t first, n;

	record(STEPS, true);
	n = parts(&first);
	for (unsigned i = 0; i < 3; i++) {
		for (uint32_t part = first; part < first + n; part += n / 2) {
			char file[LZ_PART_NAME], all[160], copy[160], cmd[400];
			struct stat st;

			lz_part_name(names[i], part, file);
			snprintf(all, sizeof(all), "%s/%s", path, file);
			snprintf(copy, sizeof(copy), "%s/kept", dir);
			snprintf(cmd, sizeof(cmd), "cp %s %s", all, copy);
			ck_assert_int_eq(system(cmd), 0);
			ck_assert_int_eq(stat(all, &st), 0);
			for (off_t at = 0; at < st.st_size; at += st.st_size / 7 + 13) {
				ck_assert_int_eq(truncate(all, at), 0);
				struct lz_reader *r = lz_reader_open(path);
				struct lz_image *im = r ? lz_image_new(r) : NULL;

				for (uint32_t k = 0; r && k < lz_reader_n_checkpoints(r); k++)
					ck_assert_msg(!lz_image_seek(im, k), "%s", lz_error());
				if (r)
					ck_assert_ptr_nonnull(lz_reader_damage(r));
				lz_image_free(im);
				lz_reader_close(r);
				snprintf(cmd, sizeof(cmd), "cp %s %s", copy, all);
				ck_assert_int_eq(system(cmd), 0);
			}
		}
	}
}
END_TEST

static void check_text(const char *copy, unsigned n)
{
	char got[64] = "", want[64];
	FILE *f = fopen(copy, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(got, sizeof(got), f));
	fclose(f);
	snprintf(want, sizeof(want), "library %u", n);
	ck_assert_str_eq(got, want);
}

/* Of files that come and go, only the copies that are needed are kept. */
START_TEST(copies)
{
	struct lz_writer *w = begin(LIMIT);
	char name[160];
	uint32_t index = 0, n_copies = 0, named = 0;
	struct dirent *e;

	for (uint64_t n = 0; n < STEPS; n++) {
		snprintf(name, sizeof(name), "%s/lib%u.so", dir, (unsigned)(n / 10));
		if (n % 10 == 0) {
			FILE *f = fopen(name, "w");

			fprintf(f, "library %u", (unsigned)n);
			fclose(f);
		}
		ck_assert_int_eq(lz_writer_file(w, name, -1, &index), 0);
		put_checkpoint(w, n, n % 16 == 0, &index);
		put_step(w, n);
	}
	ck_assert_int_eq(lz_writer_finish(w, &meta), 0);
	struct lz_reader *r = lz_reader_open(path);
	ck_assert_msg(r && !lz_reader_damage(r), "%s", r ? lz_reader_damage(r) : lz_error());
	ck_assert_uint_le(lz_reader_n_files(r), STEPS / 20);
	for (uint32_t i = 0; i < lz_reader_n_checkpoints(r); i++) {
		uint32_t file = lz_reader_checkpoint(r, i)->vmas[0].file;
		uint64_t step = lz_reader_checkpoint(r, i)->time_ns;
		char *copy = lz_reader_copy(r, file), want[160];

		ck_assert_msg(copy, "checkpoint %u: %s", i, lz_error());
		snprintf(want, sizeof(want), "%s/lib%u.so", dir, (unsigned)(step / 10));
		ck_assert_str_eq(lz_reader_file(r, file)->path, want);
		check_text(copy, (unsigned)(step / 10 * 10));
		free(copy);
	}
	for (uint32_t i = 0; i < lz_reader_n_files(r); i++)
		named += *lz_reader_file(r, i)->copy != 0;
	lz_reader_close(r);
	snprintf(name, sizeof(name), "%s/files", path);
	DIR *d = opendir(name);
	while ((e = readdir(d)))
		n_copies += e->d_name[0] != '.';
	closedir(d);
	ck_assert_uint_le(n_copies, 10);
	ck_assert_uint_ge(n_copies, named);
}
END_TEST

START_TEST(names)
{
	ck_assert_int_eq(lz_part_of("events", "events"), 0);
	ck_assert_int_eq(lz_part_of("events.12", "events"), 12);
	ck_assert_int_eq(lz_part_of("events.012", "events"), -1);
	ck_assert_int_eq(lz_part_of("events.0", "events"), -1);
	ck_assert_int_eq(lz_part_of("events.-1", "events"), -1);
	ck_assert_int_eq(lz_part_of("events.1x", "events"), -1);
	ck_assert_int_eq(lz_part_of("events.4294967296", "events"), -1);
	ck_assert_int_eq(lz_part_of("eventsx", "events"), -1);
	ck_assert_int_eq(lz_part_of("event", "events"), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("parts");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_test(t, last_part);
	tcase_add_test(t, short_run);
	tcase_add_test(t, killed_between);
	tcase_add_test(t, gap);
	tcase_add_test(t, cut);
	tcase_add_test(t, copies);
	tcase_add_test(t, names);
	suite_add_tcase(s, t);
	return run_suite(s);
}
