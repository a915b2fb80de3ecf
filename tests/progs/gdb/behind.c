/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls with nothing behind them on their lines: without markers the next line begins where they return to. */
#include <stdio.h>

int total;

__attribute__((noinline)) void more(int n)
{
	total += n;
}

__attribute__((noinline)) void less(int n)
{
	total -= n / 2;
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		more(i);
		less(i);
		total++;
	}
	printf("%d\n", total);
	return 0;
}
