/* Loops of millions of rounds, each in one line. */
#include <stdio.h>

static unsigned a[1024], sum = 1;

int main(void)
{
	unsigned n = 3000000;
	for (unsigned i = 0; i < n; i++) sum += a[i & 1023] ^ i; /* upwards */
	sum ^= 1;
	while (n > 7) sum += --n & 3; /* downwards */
	printf("%u %u\n", sum, n); /* after */
	return 0;
}
