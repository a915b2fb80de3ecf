/* callbacks from libc: qsort, bsearch, atexit, a signal handler, tsearch */
#include <search.h>
#include <signal.h>
#include "check.h"

static int compared, walked, signalled;

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	compared++;
	return x < y ? -1 : x > y;
}

static void count_node(const void *node, VISIT which, int depth)
{
	(void)node;
	(void)depth;
	if (which == preorder || which == leaf)
		walked++;
}

static void on_signal(int sig)
{
	signalled += sig;
}

static void at_end(void)
{
	printf("done callbacks\n");
}

int main(void)
{
	int v[200], key = 77, *found;
	void *root = NULL;

	for (int i = 0; i < 200; i++)
		v[i] = (i * 7919 + 13) % 211;
	qsort(v, 200, sizeof(*v), by_value);
	for (int i = 1; i < 200; i++)
		CHECK(v[i - 1] <= v[i]);
	found = bsearch(&key, v, 200, sizeof(*v), by_value);
	CHECK(found && *found == key);
	for (int i = 0; i < 200; i++)
		tsearch(&v[i], &root, by_value);
	twalk(root, count_node);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	printf("compared %s, walked %d, signalled %d\n", compared > 500 ? "often" : "seldom",
	       walked, signalled);
	CHECK(compared > 500 && walked == 200 && signalled == 3 * SIGUSR1);
	atexit(at_end);
	return 0;
}
