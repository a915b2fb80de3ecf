/* Runs for a while, in a tight loop. */
#include <stdio.h>
#include <stdlib.h>

unsigned state = 1;

static unsigned next(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 8;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20000000;
	unsigned sum = 0;

	for (long i = 0; i < n; i++)
		if (next() & 64)
			sum += state;
		else
			sum ^= state;
	printf("%u\n", sum);
	return 0;
}
