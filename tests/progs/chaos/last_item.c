/* The consumer ends when it is told so, though something is left. */
#include "bugs.h"

static volatile int produced, consumed, done;

static void *produces(void *arg)
{
	for (int i = 0; i < 50; i++)
		produced++; /* race: 2 writes */
	done = 1;
	return NULL;
}

static void *consumes(void *arg)
{
	while (!done)
		while (consumed < produced) /* race: 1 reads */
			consumed++;
	return NULL;
}

int main(void)
{
	two(produces, consumes);
	return consumed != 50; /* seen by: produced */
}
