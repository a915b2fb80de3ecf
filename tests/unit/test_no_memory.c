/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each allocation fails once, for the linker puts our own functions in malloc()'s place. */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <common/dir.h>
#include <lizard/graph.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);

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

int main(void)
{
	Suite *s = suite_create("no memory");
	TCase *tc = tcase_create("no memory");

	tcase_add_test(tc, graph_walker);
	tcase_add_test(tc, directory);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
