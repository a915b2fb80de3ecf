/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables that are stored to early, on pages that are written all the time after that. */
#include <stdio.h>
#include <stdlib.h>

static long noise[64];
static int set_once, never_set;
int global_set_once;

static void set(int v)
{
	set_once = v;
	global_set_once = 2 * v;
}

static long work(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += i % 3 ? i : -i;
		noise[i & 63] += sum;
	}
	return sum;
}

static long rounds(long n)
{
	long sum = 0;
	int in_one_round = 0;

	for (long i = 0; i < n; i++) {
		if (i == n / 4)
			in_one_round = 7;
		sum += work(2000);
	}
	return sum + in_one_round; /* HERE */
}

int main(int argc, char **argv)
{
	int local = argc + 4;
	long n = argc > 1 ? atol(argv[1]) : 10000;

	set(local);
	printf("%ld %d\n", rounds(n), set_once + global_set_once + never_set + local);
	return 0;
}
