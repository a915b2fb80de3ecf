/* A function gives back a buffer of its own, to two threads. */
#include "bugs.h"

static volatile int wrong;

static const char *text_of(int n)
{
	static char text[32];

	snprintf(text, sizeof(text), "%d", n);
	return text;
}

static void *uses(void *arg)
{
	const int n = (int)(long)arg;

	for (int i = 0; i < 60; i++)
		if (atoi(text_of(n)) != n)
			wrong = 1;
	return NULL;
}

static void *one(void *arg)
{
	return uses((void *)111L);
}

static void *other(void *arg)
{
	return uses((void *)2222L);
}

int main(void)
{
	two(one, other);
	return wrong;
}
