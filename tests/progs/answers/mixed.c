/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recursion, callbacks, loops, switches, longjmp, coroutines, threads, and an end in the midst of
 * calls. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static jmp_buf again;
static int sum;
static ucontext_t outside, inside;

static int fibonacci(int n)
{
	if (n < 2)
		return n;
	return fibonacci(n - 1) + fibonacci(n - 2);
}

static int compare(const void *a, const void *b)
{
	const int x = *(const int *)a;
	const int y = *(const int *)b;

	if (x < y)
		return -1;
	if (x > y)
		return 1;
	return 0;
}

static void sort(int n)
{
	int *v = malloc((size_t)n * sizeof(*v));

	for (int i = 0; i < n; i++)
		v[i] = (i * 7919) % 1009;
	qsort(v, (size_t)n, sizeof(*v), compare);
	sum += v[n / 2];
	free(v);
}

static int classify(int i)
{
	switch (i % 5) {
	case 0:
		return 1;
	case 1:
		return 20;
	case 3:
		return 300;
	default:
		return 4000;
	}
}

static void thrower(int depth)
{
	if (depth == 0)
		longjmp(again, 1);
	thrower(depth - 1);
	sum++;
}

static void jumps(void)
{
	volatile int left = 3;

	setjmp(again);
	if (left-- > 0)
		thrower(left + 2);
}

static void coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		sum += i;
		swapcontext(&inside, &outside);
		sum++;
	}
	sum += 5;
}

static void switches(void)
{
	static char stack[1 << 16];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	for (int i = 0; i < 4; i++)
		swapcontext(&outside, &inside);
}

static void *worker(void *arg)
{
	const int n = *(const int *)arg;
	int got = 0;

	for (int i = 0; i < n; i++)
		got += classify(i);
	return (void *)(long)got;
}

static void finish(int status)
{
	printf("%d\n", sum);
	exit(status);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 10;
	int first = 11, second = 22;
	pthread_t a, b;
	void *result;

	sum += fibonacci(n);
	sort(50 * n);
	jumps();
	switches();
	pthread_create(&a, NULL, worker, &first);
	pthread_create(&b, NULL, worker, &second);
	pthread_join(a, &result);
	sum += (int)(long)result;
	pthread_join(b, &result);
	sum += (int)(long)result;
	for (int i = 0; i < 3 * n; i++) {
		if (i % 2)
			continue;
		if (i > 40)
			break;
		sum += classify(i);
	}
	finish(argc > 2);
	return 0;
}
