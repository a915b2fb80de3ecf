/* Says what it does: an editor's walk is compared with what it printed. told [crash|ticks] */
#include <stdio.h>
#include <string.h>

struct account {
	int number;
	int value;
};

static struct account account = {.number = 1};

static void set(int to)
{
	account.value = to;
	printf("value %d\n", account.value);
}

static volatile long ticks;

static void tick(long n)
{
	ticks += n;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	fprintf(stderr, "begins\n");
	for (int i = 1; i < 5; i++) {
		int square = i * i;

		set(square);
	}
	if (argc > 1 && strcmp(argv[1], "crash") == 0)
		*(volatile int *)NULL = account.value;
	for (long n = 0; argc > 1 && strcmp(argv[1], "ticks") == 0 && n < 50000000; n++)
		tick(n);
	puts("ends");
	return 3;
}
