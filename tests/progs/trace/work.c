/* Works for SECONDS of its own CPU time, prints its progress, exits with 3. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned table[1 << 16];

static unsigned turn(unsigned x)
{
	for (int i = 0; i < 100000; i++) {
		x = x * 1664525 + 1013904223;
		if (table[x >> 16]++ & 1)
			x ^= 0x5555;
	}
	return x;
}

int main(int argc, char **argv)
{
	double limit = argc > 1 ? atof(argv[1]) : 1;
	struct timespec a, b;
	unsigned x = 1;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	do {
		x = turn(x);
		printf("%u\n", x);
		fflush(stdout);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	} while ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9 < limit);
	return 3;
}
