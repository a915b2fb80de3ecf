/* Peterson's lock, but who is to go first is said before one wants to: both get in. */
#include "bugs.h"

static volatile int wants[2], first, inside, wrong;

static void *work(long me)
{
	for (int i = 0; i < 60 && !wrong; i++) {
		first = 1 - (int)me; /* race: 1 writes, 2 writes */
		wants[me] = 1;
		while (wants[1 - me] && first == 1 - me)
			sched_yield();
		if (inside++)
			wrong = 1; /* seen by: first */
		inside--;
		wants[me] = 0;
	}
	return NULL;
}

static void *one(void *arg)
{
	return work(0);
}

static void *other(void *arg)
{
	return work(1);
}

int main(void)
{
	two(one, other);
	return wrong;
}
