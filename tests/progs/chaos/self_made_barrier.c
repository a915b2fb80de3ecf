/* A barrier that is used again before all have left it. */
#include "bugs.h"

static volatile int arrived;

static void barrier(void)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST); /* race: 1 writes */
	while (arrived < 2) /* seen by: arrived */
		sched_yield();
	arrived = 0; /* race: 2 writes */
}

static void *work(void *arg)
{
	for (int i = 0; i < 50; i++)
		barrier();
	return NULL;
}

int main(void)
{
	return two(work, work); /* hangs */
}
