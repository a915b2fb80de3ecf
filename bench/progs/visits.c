/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that is called so many times, with little in between: for breakpoints in it. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;

__attribute__((noinline)) static void visit(int n, const int *weights)
{
	sum += (unsigned long)(weights[n % 8] * n);
	if (sum & 1)
		sum ^= 0x5555;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, weights[8];

	for (int i = 0; i < 8; i++)
		weights[i] = i * 7 % 11;
	for (int n = 0; n < times; n++)
		visit(n, weights);
	printf("%lu\n", sum);
	return 0;
}
