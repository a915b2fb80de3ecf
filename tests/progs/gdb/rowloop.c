/* A loop that calls, in a single row of the line table whatever the compiler: rowloop [ROUNDS] */
#include <stdio.h>
#include <stdlib.h>

/* below the red zone */
#define LOOP "sub $128, %%rsp\n1:\tcall add\n\tsub $1, %0\n\tjnz 1b\n\tadd $128, %%rsp"
#define CHANGED "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory"

int sum = 1;

__attribute__((noinline, used)) void add(void)
{
	sum += sum % 7 == 3 ? 2 : 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 300000;

	__asm__ volatile(LOOP : "+b"(n) : : CHANGED);
	sum ^= 5;
	return printf("%d\n", sum) < 0;
}
