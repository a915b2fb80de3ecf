/* A line with calls of inlined functions of another file, and code of its own in between. */
#include <stdio.h>
#include "from_header.h"

static volatile int a, b, c;

int main(void)
{
	for (int i = 0; i < 5; i++) {
		c = i;
		bump(&a); c++; bump(&b); c--;
		c ^= a;
	}
	printf("%d %d %d\n", a, b, c);
	return 0;
}
