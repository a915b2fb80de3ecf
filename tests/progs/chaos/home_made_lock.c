/* A lock of its own: the test and the store are two instructions. */
#include "bugs.h"

static volatile int busy, inside, wrong;

static void *work(void *arg)
{
	for (int i = 0; i < 200; i++) {
		while (busy) /* race: 1 reads */
			sched_yield();
		busy = 1; /* race: 2 writes, 3 writes */
		if (inside)
			wrong = 1; /* seen by: busy */
		inside = 1;
		inside = 0;
		busy = 0;
	}
	return NULL;
}

int main(void)
{
	two(work, work);
	return wrong;
}
