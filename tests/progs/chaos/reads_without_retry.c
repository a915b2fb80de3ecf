/* A reader looks at the sequence number before it copies, and not behind it. */
#include "bugs.h"

static volatile unsigned sequence;
static volatile int a, b, wrong;

static void *writes(void *arg)
{
	for (int i = 1; i < 400; i++) {
		sequence++; /* race: 2 writes */
		a = i;
		b = -i;
		sequence++; /* race: 2 writes */
	}
	return NULL;
}

static void *reads(void *arg)
{
	for (int i = 0; i < 400; i++) {
		if (sequence % 2) /* race: 1 reads */
			continue;
		int x = a, y = b;
		if (x + y != 0)
			wrong = 1; /* seen by: sequence */
	}
	return NULL;
}

int main(void)
{
	two(writes, reads);
	return wrong;
}
