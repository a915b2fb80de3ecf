/* Loops in one line that call, in two activations of a function; out of another a longjmp leads. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf out;

static __attribute__((noinline)) int one(int i)
{
	return i % 7 == 3 ? i * 3 : i + 1;
}

static __attribute__((noinline)) int bail(int i)
{
	if (i == 100)
		longjmp(out, 1);
	return i & 1;
}

static __attribute__((noinline)) long work(int depth, int n)
{
	long s = n;
	int i;

	if (depth)
		s += work(depth - 1, n);
	for (i = 0; i < n; i++) s += one(i);
	if (!depth)
		s ^= 5;
	return s;
}

static long total;

static __attribute__((noinline)) long alone(int n)
{
	long s = n;
	int i;

	for (i = 0; i < n; i++) s -= one(i);
	total = s;
	return s;
}

static __attribute__((noinline)) long leave(int n)
{
	long s = n;

	for (int i = 0; i < n; i++) s += bail(i) + rand() % 3;
	return s;
}

int main(int argc, char **argv)
{
	volatile long s = work(1, argc > 1 ? atoi(argv[1]) : 300000);

	s += alone(argc > 1 ? atoi(argv[1]) : 300000);
	if (!setjmp(out))
		s += leave(1000);
	s ^= 3;
	return printf("%ld\n", s) < 0;
}
