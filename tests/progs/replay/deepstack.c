/* A deep stack, on top of it a run of which only the last part is kept, then the way back: deepstack DEPTH return|longjmp */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned sum;
static jmp_buf env;
static int jumps;

static void work(void)
{
	for (long i = 0; i < 100000; i++)
		if (rand() & 1)
			sum += i;
}

static int down(int n)
{
	if (!n) {
		for (int i = 0; i < 80; i++) {
			work();
			usleep(20000);
		}
		if (jumps)
			longjmp(env, 1);
		return 0;
	}
	int k = down(n - 1);
	return k + 1; /* back */
}

static int inner(void)
{
	volatile int got = -1;

	if (!setjmp(env))
		got = down(100);
	return got;
}

static int outer(int n)
{
	if (!n)
		return inner();
	int k = outer(n - 1);
	return k + 1; /* outer back */
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 10;

	jumps = argc > 2 && !strcmp(argv[2], "longjmp");
	printf("%d\n", jumps ? outer(n) : down(n));
	return 0;
}
