/* loops of all kinds, with break, continue, goto into and out of them, and irreducible control flow */
#include "check.h"

static int collatz(long n)
{
	int steps = 0;

	do {
		if (n == 1)
			break;
		n = n % 2 ? 3 * n + 1 : n / 2;
		steps++;
	} while (1);
	return steps;
}

static int irreducible(int n)
{
	int a = 0, b = 0;

	if (n % 2)
		goto middle;
top:
	a++;
	if (a > n)
		return a * 100 + b;
middle:
	b += 2;
	if (b % 3)
		goto top;
	if (b < 4 * n)
		goto middle;
	goto top;
}

int main(void)
{
	int s = 0;

	for (int i = 1; i < 100; i++) {
		if (i % 7 == 0)
			continue;
		s += collatz(i);
		for (int j = 0;; j++)
			if (j * j > i)
				break;
	}
	printf("%d %d %d\n", s, irreducible(5), irreducible(8));
	CHECK(s == 2726 && irreducible(5) == 616 && irreducible(8) == 922);
	DONE("loops");
}
