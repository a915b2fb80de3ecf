/* Each allocation fails once, for the linker puts our own functions in malloc()'s place. */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>
#include <lizard/graph.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

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

int main(void)
{
	Suite *s = suite_create("no memory");
	TCase *tc = tcase_create("no memory");

	tcase_add_test(tc, graph_walker);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
