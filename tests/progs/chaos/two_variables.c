/* A length and what it is the length of are changed one after the other, without a lock. */
#include "bugs.h"

static char text[32];
static volatile int length, wrong;

static void *writes(void *arg)
{
	for (int i = 0; i < 300; i++) {
		int n = i % 30;
		memset(text, 'x', (size_t)n);
		text[n] = 0;
		length = n;
	}
	return NULL;
}

static void *reads(void *arg)
{
	for (int i = 0; i < 300; i++)
		if ((int)strlen(text) != length)
			wrong = 1;
	return NULL;
}

int main(void)
{
	two(writes, reads);
	return wrong;
}
