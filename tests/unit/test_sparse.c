/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sparse files: checksums and copies of them, and that a copy in a recording is read once. */
#include "tests/unit/sample_pages.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <common/base/filecopy.h>
#include <common/base/sparse.h>

enum { BLOCK = 4096, BLOCKS = 700 };

static int new_file(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* Blocks of data here and there, also none, and perhaps some bytes behind the last one. */
static void fill(int fd, unsigned seed)
{
	uint8_t block[BLOCK];

	srand(seed);
	for (int i = 0; i < BLOCK; i++)
		block[i] = (uint8_t)rand();
	for (int at = rand() % 50; at < BLOCKS && seed % 7; at += 1 + rand() % 90)
		ck_assert_int_eq(pwrite(fd, block, BLOCK, (off_t)at * BLOCK), BLOCK);
	ck_assert_int_eq(ftruncate(fd, (off_t)BLOCKS * BLOCK + rand() % BLOCK), 0);
}

static uint8_t *contents(int fd, size_t *n)
{
	struct stat st;
	uint8_t *all;

	ck_assert_int_eq(fstat(fd, &st), 0);
	*n = (size_t)st.st_size;
	all = malloc(*n + 1);
	ck_assert_int_eq(pread(fd, all, *n, 0), *n);
	return all;
}

START_TEST(checksums)
{
	uint32_t crc;
	size_t n;

	for (unsigned seed = 0; seed < 40; seed++) {
		int fd = new_file("a");

		fill(fd, seed);
		uint8_t *all = contents(fd, &n);
		ck_assert_int_eq(lz_file_crc(fd, &crc, NULL), 0);
		ck_assert_uint_eq(crc, crc32_z(0, all, n));
		free(all);
		close(fd);
	}
}
END_TEST

/* Of 2^BITS zeroes: by doubling what was computed byte by byte. */
static uLong zeroes(int bits)
{
	static const uint8_t block[1 << 16];
	uLong crc = crc32_z(0, block, sizeof(block));

	for (int i = 16; i < bits; i++)
		crc = crc32_combine(crc, crc, (z_off_t)1 << i);
	return crc;
}

START_TEST(huge)
{
	const int bits = 43; /* 8 TiB */
	int fd = new_file("a");
	uint32_t crc;
	uLong want;

	if (ftruncate(fd, ((off_t)1 << bits) + 3) < 0)
		return; /* not here */
	ck_assert_int_eq(lz_file_crc(fd, &crc, NULL), 0);
	want = crc32_combine(zeroes(bits), crc32_z(0, (const uint8_t *)"\0\0\0", 3), 3);
	ck_assert_uint_eq(crc, want);
	ck_assert_int_eq(pwrite(fd, "abc", 3, (off_t)1 << bits), 3);
	ck_assert_int_eq(lz_file_crc(fd, &crc, NULL), 0);
	want = crc32_combine(zeroes(bits), crc32_z(0, (const uint8_t *)"abc", 3), 3);
	ck_assert_uint_eq(crc, want);
	ck_assert_uint_le(lz_data_bytes(fd, ((uint64_t)1 << bits) + 3), 1 << 20);
	close(fd);
}
END_TEST

START_TEST(copies)
{
	int folder = open(dir, O_RDONLY | O_DIRECTORY);

	for (unsigned seed = 0; seed < 12; seed++) {
		int fd = new_file("a"), to;
		uint64_t size;
		size_t n, m;
		uint32_t crc;
		struct stat a, b;

		fill(fd, seed);
		uint8_t *all = contents(fd, &n), *copy;
		size = n;
		ck_assert_int_eq(lz_copy_file(fd, &size, &crc, folder, "copy", NULL), 0);
		to = openat(folder, "copy", O_RDONLY);
		copy = contents(to, &m);
		ck_assert_uint_eq(size, n);
		ck_assert_uint_eq(m, n);
		ck_assert_int_eq(memcmp(all, copy, n), 0);
		ck_assert_uint_eq(crc, crc32_z(0, all, n));
		ck_assert(fsync(fd) == 0 && fsync(to) == 0);
		ck_assert(fstat(fd, &a) == 0 && fstat(to, &b) == 0);
		ck_assert_int_le(b.st_blocks, a.st_blocks + 16);
		unlinkat(folder, "copy", 0);
		free(all);
		free(copy);
		close(fd);
		close(to);
	}
	close(folder);
}
END_TEST

/* ---- in a recording ---- */

enum { COPIES = 20, COPY_SIZE = 1 << 20 };

/* Bytes that this process has read so far. */
static uint64_t bytes_read(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long n = 0;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "rchar: %lu", &n), 1);
	fclose(f);
	return n;
}

/* COPIES files of one content, and their copies one file. */
static char *record_links(void)
{
	struct lz_writer *w = lz_writer_create(NULL, &meta);
	char *path = strdup(lz_writer_dir(w)), cmd[400];
	static char bytes_of_all[COPY_SIZE];
	uint32_t index;

	memset(bytes_of_all, 'x', sizeof(bytes_of_all));
	for (int i = 0; i < COPIES; i++) {
		char name[16];
		int fd;

		snprintf(name, sizeof(name), "f%d", i);
		fd = new_file(name);
		ck_assert_int_eq(write(fd, bytes_of_all, COPY_SIZE), COPY_SIZE);
		ck_assert_int_eq(lz_writer_file(w, name, fd, &index), 0);
		ck_assert_uint_eq(index, i);
		close(fd);
	}
	ck_assert_int_eq(lz_writer_finish(w, &meta), 0);
	snprintf(cmd, sizeof(cmd),
	         "cd '%s/files' && for f in *-f?*; do [ $f = 0-f0 ] || ln -f 0-f0 $f; done", path);
	ck_assert_int_eq(system(cmd), 0);
	return path;
}

START_TEST(read_once)
{
	char *path = record_links(), copy[200];
	uint64_t before = bytes_read(), after;
	struct lz_reader *r = open_recording(path), *more;

	after = bytes_read();
	ck_assert_ptr_null(lz_reader_damage(r));
	ck_assert_uint_ge(after - before, COPY_SIZE);
	ck_assert_uint_lt(after - before, 2 * COPY_SIZE);

	/* One more reader knows what the first one has found out, be it good or bad. */
	before = bytes_read();
	more = lz_reader_again(r);
	ck_assert_uint_lt(bytes_read() - before, COPY_SIZE);
	ck_assert_ptr_null(lz_reader_damage(more));
	lz_reader_close(more);
	lz_reader_close(r);
	snprintf(copy, sizeof(copy), "%s/files/7-f7", path);
	ck_assert_int_eq(unlink(copy), 0);
	r = open_recording(path);
	more = lz_reader_again(r);
	ck_assert_str_eq(lz_reader_damage(r), "damaged: files/7-f7 is missing");
	ck_assert_str_eq(lz_reader_damage(more), lz_reader_damage(r));
	ck_assert_ptr_null(lz_reader_copy(more, 7));
	lz_reader_close(more);
	lz_reader_close(r);
	free(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sparse");
	TCase *tc = tcase_create("sparse");

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, checksums);
	tcase_add_test(tc, huge);
	tcase_add_test(tc, copies);
	tcase_add_test(tc, read_once);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
