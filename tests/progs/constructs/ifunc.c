/* ifunc: the resolver and what it calls run before thread-local storage exists */
#include "check.h"

static int fast(int x)
{
	return x * 2;
}

static int slow(int x)
{
	int r = 0;

	while (x-- > 0)
		r += 2;
	return r;
}

static int machine_is_fast(void)
{
	int n = 0;

	for (int i = 0; i < 3; i++)
		n += i;
	return n == 3;
}

static int (*resolve(void))(int)
{
	return machine_is_fast() ? fast : slow;
}

int doubled(int x) __attribute__((ifunc("resolve")));

__attribute__((target_clones("avx2", "default"))) long total(const int *v, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

int main(void)
{
	int v[64];

	for (int i = 0; i < 64; i++)
		v[i] = doubled(i);
	printf("%ld\n", total(v, 64));
	CHECK(total(v, 64) == 4032);
	DONE("ifunc");
}
