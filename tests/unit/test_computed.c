/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of markers that were computed again and are kept beside the recording: what is put there comes back, by other
 * readers too; what is wrong there is not believed; what a killed process has left does no harm. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <common/recording/frame.h>
#include <common/recording/writer.h>
#include "tests/unit/sample_events.h"

enum { TID = 77, LEN = 50000, BLOCKS = 4 };
#define ALL (1ull << 40)

static char rec[96], file[128];
static uint8_t block[BLOCKS][LEN];

static void record(void)
{
	snprintf(rec, sizeof(rec), "%s/rec", dir);
	snprintf(file, sizeof(file), "%s/index/markers-%d", rec, TID);
	struct lz_writer *w = lz_writer_create(rec, &meta);
	ck_assert_msg(w != NULL, "%s", lz_error());
	lz_writer_flow(w, LZ_FLOW_HASH, 0);
	struct lz_event ev = {.kind = LZ_EV_EXIT, .tid = TID};
	ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	for (unsigned i = 0; i < BLOCKS; i++) {
		put_markers(w, (uint64_t)i * LEN, (uint64_t)(i + 1) * LEN);
		ck_assert_int_eq(lz_writer_drain(w), 0);
		for (unsigned k = 0; k < LEN; k++)
			block[i][k] = stream_byte((uint64_t)i * LEN + k);
	}
	struct lz_meta m = meta;
	ck_assert_msg(lz_writer_finish(w, &m) == 0, "%s", lz_error());
}

static void set_up(void)
{
	make_dir();
	record();
}

static struct lz_reader *open_it(void)
{
	struct lz_reader *r = lz_reader_open(rec);
	ck_assert_msg(r != NULL, "%s", lz_error());
	return r;
}

static int keep(struct lz_reader *r, uint32_t i)
{
	return lz_reader_keep_computed(r, TID, i, LZ_CODEC_RAW, block[i], LEN, ALL);
}

/* Whether block I is at hand, with the right bytes. */
static bool has(struct lz_reader *r, uint32_t i)
{
	static uint8_t got[LEN];
	int64_t n = lz_reader_markers_kept(r, TID, (uint64_t)i * LEN, got, LEN);

	ck_assert(n == 0 || n == LEN);
	ck_assert(!n || memcmp(got, block[i], LEN) == 0);
	return n;
}

static bool has_anew(uint32_t i)
{
	struct lz_reader *r = open_it();
	bool is = has(r, i);

	lz_reader_close(r);
	return is;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

static void append(const void *bytes, size_t len)
{
	int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);

	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

START_TEST(comes_back)
{
	struct lz_reader *a = open_it(), *b = open_it();

	for (uint32_t i = 0; i < BLOCKS; i++)
		ck_assert(!has(a, i) && !lz_reader_block_at_hand(a, TID, i));
	ck_assert_int_eq(keep(a, 2), 0);
	ck_assert(lz_reader_block_at_hand(a, TID, 2));
	ck_assert_int_eq(keep(b, 1), 0);
	ck_assert_int_eq(keep(a, 0), 0);
	/* each of them has what the other one has added */
	for (uint32_t i = 0; i < 3; i++)
		ck_assert(has(a, i) && has(b, i) && has_anew(i));
	ck_assert(!has(a, 3) && !has_anew(3));
	ck_assert_uint_eq(lz_reader_markers_computed(b, TID), 3 * LEN);
	ck_assert_uint_eq(lz_reader_markers_hashed(b, TID), BLOCKS * LEN);
	/* once is enough */
	off_t size = size_of(file);
	ck_assert_int_eq(keep(b, 0), 0);
	ck_assert_int_eq(size_of(file), size);
	lz_reader_close(a);
	lz_reader_close(b);
}
END_TEST

START_TEST(across_blocks)
{
	struct lz_reader *r = open_it();
	uint8_t got[10];

	ck_assert_int_eq(keep(r, 0), 0);
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, LEN - 5, got, 10), 5);
	ck_assert_int_eq(keep(r, 1), 0);
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, LEN - 5, got, 10), 10);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(got[i], stream_byte((uint64_t)(LEN - 5 + i)));
	/* what is recorded itself is not to be kept, nor what is not there */
	ck_assert_int_eq(keep(r, BLOCKS), -1);
	lz_reader_close(r);
}
END_TEST

/* A frame that is right in itself, and not what was recorded. */
static void put_frame(struct lz_frame f, const uint8_t *payload)
{
	uint8_t header[LZ_FRAME_HEADER];

	f.crc = (uint32_t)crc32(0, payload, f.stored_len);
	lz_frame_pack(&f, header);
	append(header, sizeof(header));
	append(payload, f.stored_len);
}

START_TEST(not_believed)
{
	static uint8_t lie[LEN];
	struct lz_reader *r = open_it();
	struct lz_frame f = {.type = LZ_FRAME_MARKERS, .raw_len = LEN, .stored_len = LEN};

	ck_assert_int_eq(keep(r, 0), 0);
	memcpy(lie, block[1], LEN);
	lie[LEN / 2] ^= 1;
	f.key0 = LEN;
	put_frame(f, lie);
	ck_assert(!has(r, 1) && !has_anew(1));
	/* nor another length, another place, another type */
	f.raw_len = f.stored_len = LEN - 1;
	put_frame(f, block[1]);
	f.raw_len = f.stored_len = LEN;
	f.key0 = LEN + 1;
	put_frame(f, block[1]);
	f.key0 = 1000ull * LEN;
	put_frame(f, block[1]);
	f.key0 = LEN;
	f.type = LZ_FRAME_FILE;
	put_frame(f, block[1]);
	ck_assert(!has(r, 1) && !has_anew(1) && has_anew(0));
	/* the right one takes the place of the wrong one */
	ck_assert_int_eq(keep(r, 1), 0);
	ck_assert(has(r, 1) && has_anew(1));
	lz_reader_close(r);
}
END_TEST

START_TEST(damaged_payload)
{
	struct lz_reader *r = open_it();

	ck_assert_int_eq(keep(r, 0), 0);
	lz_reader_close(r);
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, "xyz", 3, LZ_FRAME_HEADER + 100), 3);
	close(fd);
	ck_assert(!has_anew(0));
	/* a reader that has not looked at it puts it there once more */
	r = open_it();
	ck_assert_int_eq(keep(r, 0), 0);
	ck_assert(has(r, 0) && has_anew(0));
	lz_reader_close(r);
}
END_TEST

/* A process was killed while it wrote; the bytes may be any. */
START_TEST(a_rest_is_cut)
{
	struct lz_reader *r = open_it();
	uint8_t header[LZ_FRAME_HEADER];
	const struct lz_frame f = {
	    .type = LZ_FRAME_MARKERS, .raw_len = 3 * LEN, .stored_len = 3 * LEN, .key0 = LEN};

	ck_assert_int_eq(keep(r, 0), 0);
	off_t size = size_of(file);
	lz_frame_pack(&f, header);
	append(header, _i ? sizeof(header) : 20);
	append(block[1], 2 * LEN);
	ck_assert(has_anew(0) && !has_anew(1));
	/* by the one that knows what was there, or by another one */
	struct lz_reader *other = open_it();
	ck_assert_int_eq(keep(_i ? other : r, 2), 0);
	ck_assert_int_eq(size_of(file), 2 * size);
	ck_assert(has(r, 2) && has(other, 2) && has_anew(0) && has_anew(2));
	lz_reader_close(other);
	lz_reader_close(r);
}
END_TEST

START_TEST(keeps_to_the_limit)
{
	struct lz_reader *r = open_it();
	const uint64_t limit = 2 * (LEN + LZ_FRAME_HEADER);

	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(
		    lz_reader_keep_computed(r, TID, i, LZ_CODEC_RAW, block[i], LEN, limit),
		    i < 2 ? 0 : -1);
	ck_assert_msg(strstr(lz_error(), "MiB"), "%s", lz_error());
	ck_assert_int_eq(size_of(file), (off_t)limit);
	ck_assert(has_anew(0) && has_anew(1) && !has_anew(2));
	lz_reader_close(r);
}
END_TEST

START_TEST(a_full_disk)
{
	struct lz_reader *r = open_it();

	ck_assert_int_eq(keep(r, 0), 0);
	off_t size = size_of(file);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)size + 100, RLIM_INFINITY});
	ck_assert_int_eq(keep(r, 1), -1);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
	ck_assert_msg(strstr(lz_error(), rec), "%s", lz_error());
	ck_assert_int_eq(size_of(file), size);
	ck_assert(has(r, 0) && has_anew(0) && !has_anew(1));
	lz_reader_close(r);
}
END_TEST

/* Somebody else's file that a link leads to, or that has a second name there, is not written to. */
START_TEST(not_written_to)
{
	char folder[128], other[128];
	static const char text[] = "mine";
	struct lz_reader *r = open_it();

	snprintf(folder, sizeof(folder), "%s/index", rec);
	snprintf(other, sizeof(other), "%s/other", dir);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(write(fd, text, sizeof(text)), sizeof(text));
	close(fd);
	ck_assert_int_eq(_i ? link(other, file) : symlink(other, file), 0);
	ck_assert_int_eq(keep(r, 0), -1);
	ck_assert_int_eq(size_of(other), sizeof(text));
	ck_assert(!has(r, 0) && !has_anew(0));
	lz_reader_close(r);
}
END_TEST

START_TEST(no_folder_of_others)
{
	char folder[128], other[128];
	struct lz_reader *r = open_it();

	snprintf(folder, sizeof(folder), "%s/index", rec);
	snprintf(other, sizeof(other), "%s/other", dir);
	ck_assert_int_eq(mkdir(other, 0700), 0);
	ck_assert_int_eq(symlink(other, folder), 0);
	ck_assert_int_eq(keep(r, 0), -1);
	ck_assert_int_eq(rmdir(other), 0);
	lz_reader_close(r);
	ck_assert_ptr_null(lz_reader_open(rec));
}
END_TEST

/* A process that holds the lock and is stopped makes nobody wait for long. */
START_TEST(somebody_has_it)
{
	struct lz_reader *r = open_it();

	ck_assert_int_eq(keep(r, 0), 0);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(keep(r, 1), -1);
	close(fd);
	ck_assert(has_anew(0) && !has_anew(1));
	ck_assert_int_eq(keep(r, 1), -1); /* not tried again */
	lz_reader_close(r);
}
END_TEST

/* While it is recorded its parts may go. */
START_TEST(still_recorded)
{
	struct lz_reader *r = open_it();
	int fd = open(rec, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(keep(r, 0), -1);
	ck_assert_int_eq(size_of(file), -1);
	close(fd);
	lz_reader_close(r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("computed");
	TCase *t = tcase_create("computed");

	suite_add_tcase(s, t);
	tcase_add_checked_fixture(t, set_up, remove_dir);
	tcase_add_test(t, comes_back);
	tcase_add_test(t, across_blocks);
	tcase_add_test(t, not_believed);
	tcase_add_test(t, damaged_payload);
	tcase_add_loop_test(t, a_rest_is_cut, 0, 2);
	tcase_add_test(t, keeps_to_the_limit);
	tcase_add_test(t, a_full_disk);
	tcase_add_loop_test(t, not_written_to, 0, 2);
	tcase_add_test(t, no_folder_of_others);
	tcase_add_test(t, somebody_has_it);
	tcase_add_test(t, still_recorded);
	return run_suite(s);
}
