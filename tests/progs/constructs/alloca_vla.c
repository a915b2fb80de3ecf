/* alloca and variable-length arrays, in loops and in recursion */
#include <alloca.h>
#include <string.h>
#include "check.h"

static long vla(int n)
{
	int a[n], b[n][3];
	long s = 0;

	for (int i = 0; i < n; i++) {
		a[i] = i * i;
		b[i][i % 3] = i;
	}
	for (int i = 0; i < n; i++)
		s += a[i] - b[i][i % 3];
	return s;
}

static long in_loop(int rounds)
{
	char *last = NULL;
	long s = 0;

	for (int i = 1; i < rounds; i++) {
		char *p = alloca((size_t)i);

		memset(p, i, (size_t)i);
		s += p[i - 1] + (last ? last[0] : 0);
		last = p;
	}
	return s;
}

static long recurse(int n)
{
	char buf[n + 1];

	if (n == 0)
		return 0;
	memset(buf, n, sizeof(buf));
	return recurse(n - 1) + buf[n];
}

int main(void)
{
	printf("%ld %ld %ld\n", vla(10), in_loop(100), recurse(50));
	CHECK(vla(10) == 240 && in_loop(100) == 9801 && recurse(50) == 1275);
	DONE("alloca_vla");
}
