/* Two threads make the one instance. */
#include "bugs.h"

static int *volatile instance;
static volatile int n_made;

static void *get(void *arg)
{
	if (!instance) { /* race: 1 reads */
		__atomic_fetch_add(&n_made, 1, __ATOMIC_SEQ_CST);
		instance = malloc(4); /* race: 2 writes, 3 writes */
	}
	return NULL;
}

int main(void)
{
	two(get, get);
	return n_made != 1; /* seen by: instance */
}
