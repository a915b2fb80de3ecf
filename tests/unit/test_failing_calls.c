/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the system does not do, or only in parts: the linker puts our own functions in place of its
 * calls. */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <common/base/dir.h>
#include <common/base/filecopy.h>
#include <lizard/graph.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);

ssize_t __wrap_copy_file_range(int from, loff_t *at, int to, loff_t *to_at, size_t n, unsigned f);
ssize_t __real_copy_file_range(int from, loff_t *at, int to, loff_t *to_at, size_t n, unsigned f);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t at);
int __wrap_ioctl(int fd, unsigned long request, ...);

/* So many allocations succeed before one fails; -1: all do. */
static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

DIR *__wrap_fdopendir(int fd)
{
	return fails() ? NULL : __real_fdopendir(fd);
}

/* The error of the next copy_file_range() or pwrite(), and of the later ones; 0: none. */
static int copy_error, later_copy_errors, write_error;

ssize_t __wrap_copy_file_range(int from, loff_t *at, int to, loff_t *to_at, size_t n, unsigned f)
{
	errno = copy_error;
	copy_error = later_copy_errors;
	return errno ? -1 : __real_copy_file_range(from, at, to, to_at, n < 1000 ? n : 1000, f);
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at)
{
	errno = write_error;
	write_error = 0;
	return errno ? -1 : __real_pwrite(fd, p, n < 1000 ? n : 1000, at);
}

/* No reflinks. */
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	errno = EOPNOTSUPP;
	return -1;
}

START_TEST(graph_walker)
{
	struct lz_edge edges[] = {{.src = 0, .dst = 1}};
	uint32_t node_marker[] = {0, 0};
	struct lz_graph g = {
	    .n_nodes = 2, .n_edges = 1, .edges = edges, .node_marker = node_marker, .exit = 1};
	struct lz_graph_walker *w = NULL;
	int n = 0;

	for (; !w; n++) {
		ck_assert_int_lt(n, 100);
		left = n;
		w = lz_graph_walker_open(&g);
	}
	left = -1;
	lz_graph_walker_close(w);
	/* the walker, its four lists, two tables of places, two arrays for each direction */
	ck_assert_int_eq(n - 1, 11);
}
END_TEST

/* The lowest number that is free. */
static int next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	close(fd);
	return fd;
}

START_TEST(directory)
{
	int before = next_fd();

	left = 0;
	ck_assert_ptr_null(lz_open_dir(AT_FDCWD, "/"));
	left = -1;
	ck_assert_int_eq(next_fd(), before);
	DIR *d = lz_open_dir(AT_FDCWD, "/");
	ck_assert_ptr_nonnull(d);
	closedir(d);
}
END_TEST

struct copying {
	int first, later, write; /* errors of copy_file_range(), of pwrite() */
	bool copied;
};

static const struct copying copies[] = {
    {0, 0, 0, true},         /* in parts */
    {EINTR, 0, 0, true},     /* interrupted */
    {EINTR, EXDEV, 0, true}, /* the kernel cannot: in parts */
    {EXDEV, EXDEV, EINTR, true},
    {EXDEV, EXDEV, EIO, false},
    {ENOSPC, 0, 0, false},
};

START_TEST(copy)
{
	const struct copying *c = &copies[_i];
	char dir[] = "/tmp/failing-XXXXXX";
	static char want[5000], got[sizeof(want) + 1];
	uint64_t size = sizeof(want);
	uint32_t crc, copied_crc;
	int at, from, to;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY);
	from = openat(at, "from", O_RDWR | O_CREAT, 0600);
	for (size_t i = 0; i < sizeof(want); i++)
		want[i] = (char)(i * 7 + i / 256);
	ck_assert_int_eq(write(from, want, sizeof(want)), sizeof(want));
	ck_assert_int_eq(lz_file_crc(from, &crc, NULL), 0);
	copy_error = c->first;
	later_copy_errors = c->later;
	write_error = c->write;
	ck_assert_int_eq(lz_copy_file(from, &size, &copied_crc, at, "to", NULL),
	                 c->copied ? 0 : -1);
	to = openat(at, "to", O_RDONLY);
	ck_assert_int_eq(to >= 0, c->copied);
	if (c->copied) {
		ck_assert_int_eq(read(to, got, sizeof(got)), sizeof(want));
		ck_assert_mem_eq(got, want, sizeof(want));
		ck_assert_uint_eq(copied_crc, crc);
		ck_assert_uint_eq(size, sizeof(want));
		close(to);
	}
	close(from);
	unlinkat(at, "from", 0);
	unlinkat(at, "to", 0);
	close(at);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("failing calls");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, graph_walker);
	tcase_add_test(tc, directory);
	tcase_add_loop_test(tc, copy, 0, sizeof(copies) / sizeof(*copies));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
