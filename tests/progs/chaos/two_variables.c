/* A length and what it is the length of are changed one after the other, without a lock. */
#include "bugs.h"

static char text[32];
static volatile int length, wrong;

static void *writes(void *arg)
{
	for (int i = 0; i < 300; i++) {
		int n = i % 30;
		memset(text, 'x', (size_t)n); /* race: 1 writes */
		text[n] = 0; /* race: 1 writes */
		length = n;
	}
	return NULL;
}

static void *reads(void *arg)
{
	for (int i = 0; i < 300; i++)
		if ((int)strlen(text) != length) /* race: 2 reads */
			wrong = 1; /* seen by: text */
	return NULL;
}

int main(void)
{
	two(writes, reads);
	return wrong;
}
