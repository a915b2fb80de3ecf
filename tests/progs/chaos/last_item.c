/* The consumer ends when it is told so, though something is left. */
#include "bugs.h"

static volatile int produced, consumed, done;

static void *produces(void *arg)
{
	for (int i = 0; i < 50; i++)
		produced++;
	done = 1; /* race: 1 writes */
	return NULL;
}

static void *consumes(void *arg)
{
	while (!done) /* race: 2 reads */
		while (consumed < produced)
			consumed++;
	return NULL;
}

int main(void)
{
	two(produces, consumes);
	return consumed != 50; /* seen by: done */
}
