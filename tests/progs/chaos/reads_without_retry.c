/* A reader looks at the sequence number before it copies, and not behind it. */
#include "bugs.h"

static volatile unsigned sequence;
static volatile int a, b, wrong;

static void *writes(void *arg)
{
	for (int i = 1; i < 400; i++) {
		sequence++;
		a = i;
		b = -i;
		sequence++;
	}
	return NULL;
}

static void *reads(void *arg)
{
	for (int i = 0; i < 400; i++) {
		if (sequence % 2)
			continue;
		int x = a, y = b;
		if (x + y != 0)
			wrong = 1;
	}
	return NULL;
}

int main(void)
{
	two(writes, reads);
	return wrong;
}
