/* Inlined calls behind the changes of a variable in a register. */
#include <stdio.h>

static volatile int noise = 1;

static inline __attribute__((always_inline)) int mixed(int sum)
{
	noise += sum;
	noise ^= 5;
	return noise;
}

static __attribute__((noinline)) int work(int n)
{
	int sum = n;

	for (int i = 0; i < 3; i++)
		sum = sum * 3 + noise;
	mixed(3);
	mixed(4);
	mixed(7);
	return sum ^ noise;
}

int main(int argc, char **argv)
{
	printf("%d\n", work(argc + 2));
	return 0;
}
