/* Several calls on one line, of functions that are all on the line of their `{`, and of one that is not. */
#include <stdio.h>

int total;

__attribute__((noinline)) int inner(int x) { return x * 3 + total; }
__attribute__((noinline)) int outer(int x) { return inner(x) + 1; }

__attribute__((noinline)) int longer(int x)
{
	int y = inner(x);

	return y + 1;
}

int main(void)
{
	int sum = 0;

	sum += outer(1) + outer(2) + outer(3);
	total = sum;
	sum += longer(1) + longer(2) + longer(3);
	printf("%d\n", sum);
	return 0;
}
