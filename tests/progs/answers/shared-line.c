/* Jumps from behind an `if` whose place an instruction has, too, and that shares its line with other code: shared-line TIMES */
#include <stdio.h>
#include <stdlib.h>

static int sum;

static void add(int n)
{
	sum += n;
}

static void first(int n)
{
	int i;

	if (n > 3 || n == 1)
		for (i = n; i > 0; i--)
			add(i);
	else
		add(1);
}

/* clang-format off */
static void second(int n)
{
	int i;

	if (n == 2) add(2); if (n > 3 || n == 1)
		for (i = n; i > 0; i--)
			add(i);
	else
		add(1);
}
/* clang-format on */

/* the loop's jump back has the place of its first statement */
static void third(int n)
{
	while (1) {
		sum += n;
		sum--;
		if (n-- == 0)
			break;
	}
}

int main(int argc, char **argv)
{
	const int times = argc > 1 ? atoi(argv[1]) : 5;

	for (int i = 0; i < times; i++) {
		first(i % 5);
		second(i % 7);
		third(i % 3);
	}
	printf("%d\n", sum);
	return 0;
}
