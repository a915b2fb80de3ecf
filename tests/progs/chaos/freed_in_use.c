/* The pointer is looked at, then used: another thread takes it away in between. */
#include "bugs.h"

static int *volatile shared;
static volatile int wrong;

static void *uses(void *arg)
{
	for (int i = 0; i < 200; i++)
		if (shared) { /* race: 1 reads */
			int *p = shared; /* race: 3 reads */
			if (!p)
				wrong = 1; /* seen by: shared */
		}
	return NULL;
}

static void *takes_away(void *arg)
{
	static int object;

	for (int i = 0; i < 200; i++) {
		shared = &object;
		shared = NULL; /* race: 2 writes */
	}
	return NULL;
}

int main(void)
{
	two(uses, takes_away);
	return wrong;
}
