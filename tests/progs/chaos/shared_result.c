/* A function gives back a buffer of its own, to two threads. */
#include "bugs.h"

static volatile int wrong;

static const char *text_of(int n)
{
	static char text[32];

	snprintf(text, sizeof(text), "%d", n); /* race: 1 writes, 2 writes */
	return text;
}

static void *uses(void *arg)
{
	const int n = (int)(long)arg;

	for (int i = 0; i < 60; i++)
		if (atoi(text_of(n)) != n) /* race: 3 reads */
			wrong = 1; /* seen by: text_of::text[0] */
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
