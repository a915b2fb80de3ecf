/* An inlined function, of whose pieces of code two touch (at -O2). */
#include <stdio.h>

static volatile long total, hits, last;

static void bump(int i)
{
	total += i;
	if (i % 7 == 0)
		hits++;
	if (i % 5 == 3)
		last = i;
}

int main(void)
{
	for (int i = 0; i < 300; i++) {
		bump(i);
		if (i % 50 == 0)
			printf("%d\n", i);
	}
	printf("%ld %ld %ld\n", total, hits, last);
	return 0;
}
