/* visit() is called often, the library's visit() seldom; both also where no marker is written in between. */
#include <stdio.h>

int library(int x);

static int __attribute__((noinline)) visit(int x)
{
	return x ^ x >> 3;
}

int main(void)
{
	unsigned sum = 0;

	for (int i = 0; i < 3000; i++) {
		if (i % 7 == 3)
			sum += library(i) + library(i + 1);
		sum += visit(i);
		if (i % 1000 == 500)
			printf("%u\n", sum);
	}
	printf("%u\n", sum);
	return 0;
}
