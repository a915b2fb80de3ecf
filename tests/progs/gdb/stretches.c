/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that only computes, over many intervals between checkpoints; at -O2 its markers do not
 * tell whether control was at a line. Arguments: rounds. */
#include <stdio.h>
#include <stdlib.h>

volatile unsigned rare, often, never;
static unsigned table[1024];

__attribute__((noinline)) static unsigned compute(unsigned rounds)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < rounds; i++) {
		const unsigned k = (sum ^ i) & 1023;

		if (table[k] & 1)
			sum = sum * 1664525u + 1013904223u;
		else if (sum & 64)
			sum ^= sum >> 7;
		else
			sum += table[k] + 3;
		if (i % 8 == 5) {
			if (i % (rounds / 4) == 5)
				rare++; /* RARE */
			if (i >= rounds / 2 && i < rounds / 2 + 200000)
				often++; /* OFTEN */
			if (i == rounds + 1)
				never++; /* NEVER */
		}
		table[k] += sum >> 5;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const unsigned sum = compute(argc > 1 ? (unsigned)atoi(argv[1]) : 40000000);

	printf("%u: rare %u, often %u, never %u\n", sum, rare, often, never);
	return 0;
}
