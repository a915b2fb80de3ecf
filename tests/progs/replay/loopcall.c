/* A loop that calls, between two labels. */
#include <stdio.h>

__attribute__((noinline)) int callee(int by)
{
	return by ^ 5;
}

int main(void)
{
	volatile int sum = 0, i = 0;

	__asm__ volatile(".globl loop_begins\nloop_begins:");
	do
		sum += callee(i);
	while (++i < 20);
	__asm__ volatile(".globl loop_ends\nloop_ends:");
	return printf("%d\n", sum) < 0;
}
