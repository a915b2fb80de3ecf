/* Switches, and tail calls through a table of functions: both are indirect jumps through constants. */
#include <ctype.h>
#include <stdio.h>

typedef unsigned function(unsigned, unsigned);

static volatile unsigned calls;

#define NOINLINE __attribute__((noinline))
NOINLINE unsigned sum(unsigned a, unsigned b)
{
	calls++;
	return a + b;
}

NOINLINE unsigned product(unsigned a, unsigned b)
{
	calls++;
	return a * b + 3;
}

NOINLINE unsigned difference(unsigned a, unsigned b)
{
	calls++;
	return a ^ b;
}

static function *const functions[] = {sum, product, difference, sum};

NOINLINE unsigned choose(unsigned a, unsigned b)
{
	switch (a % 7) {
	case 0: a += 3; break;
	case 1: a = sum(a, b); break;
	case 2: a ^= product(a, b); break;
	case 3: return difference(a, b) + 1;
	case 4: return sum(a, b) + 2;
	case 5: a = product(a, b + 1); break;
	}
	return functions[b & 3](a, b);
}

NOINLINE int upper(int c)
{
	calls++;
	return (toupper)(c);
}

/* The last marker before this switch is the TAIL of what it called, if that called libc. */
NOINLINE unsigned behind(unsigned a, unsigned b)
{
	switch (upper((int)(a % 7) + 'a')) {
	case 'A': return a + 3;
	case 'B': return sum(a, b) * 2;
	case 'C': a ^= product(a, b); break;
	case 'D': return difference(a, b) + 1;
	case 'E': a -= b; break;
	case 'F': return a * b;
	}
	return a + calls;
}

int main(void)
{
	unsigned seed = 1, all = 0;

	for (int i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		all += choose(seed >> 16, seed >> 9) + behind(seed >> 16, seed >> 9);
	}
	printf("%u\n", all);
	return 0;
}
