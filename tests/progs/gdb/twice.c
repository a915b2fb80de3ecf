/* Lines that change a variable in a register several times. */
#include <stdio.h>

volatile int sink;

__attribute__((noipa)) static int scramble(int x)
{
	return x * 3 + 1;
}

__attribute__((noipa)) static int line(int n)
{
	int v = scramble(n);

	v = scramble(v), sink = v, v = scramble(v), sink = v, v = v * 2;
	sink = v;
	return v + n;
}

__attribute__((noipa)) static int loop(int n)
{
	int v = n;

	for (int i = 0; i < 6; v = scramble(v), i++)
		;
	sink = v;
	return v + n;
}

int main(void)
{
	printf("%d\n", line(5) + loop(5));
	return 0;
}
