/* A thread uses what main makes behind pthread_create. */
#include "bugs.h"

static int *volatile made;

static void *uses(void *arg)
{
	volatile int warm = 0;
	for (int i = 0; i < 20; i++)
		warm += i;
	return made ? NULL : (void *)1; /* race: 1 reads */
}

int main(void)
{
	pthread_t t;
	void *bad;

	alarm(HANGS_AFTER);
	pthread_create(&t, NULL, uses, NULL);
	made = malloc(4); /* race: 2 writes */
	pthread_join(t, &bad);
	return bad != NULL; /* seen by: made */
}
