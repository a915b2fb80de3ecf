/* Values with planted origins of each kind, each behind copies. CHECK is where they are looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pair {
	long first, second;
};

struct large {
	long v[12];
};

int from_constant, from_sum, from_call, from_parameter, from_member, from_read, from_argument, from_unset, from_file,
    from_zero, from_block, from_string;
int initial = 77, never;
long from_struct, from_large, from_realloc, from_stack;
char *from_environment, *from_address;
struct pair pairs[3];

__attribute__((noipa)) static int seven(void)
{
	return 7;
}

__attribute__((noipa)) static int twice(int n)
{
	return n + n;
}

__attribute__((noipa)) static int pass(int n)
{
	int kept = n;

	return kept;
}

__attribute__((noipa)) static int leave_some(int set)
{
	int value[4];

	if (set)
		value[2] = set;
	return ((volatile int *)value)[2];
}

__attribute__((noipa)) static long last_of(int a, int b, int c, int d, int e, int f, long g)
{
	return a + b + c + d + e + f ? g : 0;
}

__attribute__((noipa)) static void constant(void)
{
	int n = 41;

	from_constant = pass(n);
}

__attribute__((noipa)) static void sum(int a, int b)
{
	from_sum = pass(a + b);
}

__attribute__((noipa)) static void calls(int n)
{
	from_call = pass(seven());
	from_parameter = pass(pass(n));
}

__attribute__((noipa)) static void structs(long n)
{
	struct pair p = {3, n};
	struct large l, copied;

	pairs[1] = p;
	from_struct = pairs[1].second;
	l.v[7] = n;
	copied = l;
	memcpy(&l, &copied, sizeof l);
	from_large = l.v[7];
}

__attribute__((noipa)) static void input(void)
{
	int fds[2], words[4] = {1, 2, 3, 4}, got[4];

	if (pipe(fds) < 0 || write(fds[1], words, sizeof words) != sizeof words ||
	    read(fds[0], got, sizeof got) != sizeof got)
		exit(2);
	from_read = pass(got[2]);
}

__attribute__((noipa)) static void blocks(long n)
{
	long *block = malloc(10 * sizeof *block), *between = malloc(64);

	block[3] = n;
	block = realloc(block, 5000 * sizeof *block);
	between[0] = block[3];
	from_realloc = between[0];
	from_stack = last_of(1, 2, 3, 4, 5, 6, n);
}

int main(int argc, char **argv)
{
	constant();
	sum(argc, 5);
	calls(twice(argc));
	structs(123456);
	input();
	blocks(654321);
	from_argument = argc;
	from_environment = argv[0];
	from_address = (char *)&pairs[2];
	from_file = pass(initial);
	from_zero = pass(never);
	leave_some(99);
	from_unset = pass(leave_some(0));
	printf("%d\n", from_sum); /* CHECK */
	return 0;
}
