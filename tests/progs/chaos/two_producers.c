/* A ring for one producer has two: a place is filled twice. */
#include "bugs.h"

enum { N = 400 };
static volatile int ring[2 * N], head;

static void put(int v)
{
	ring[head] = v; /* race: 1 reads */
	head = head + 1; /* race: 2 writes, 3 writes */
}

static void *produces(void *arg)
{
	for (int i = 0; i < N; i++)
		put(1);
	return NULL;
}

int main(void)
{
	int n = 0;

	two(produces, produces);
	for (int i = 0; i < 2 * N; i++)
		n += ring[i];
	return n != 2 * N; /* seen by: head */
}
