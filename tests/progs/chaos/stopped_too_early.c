/* A thread says itself that it is not to stop, when it has been told to already. */
#include "bugs.h"

static volatile int stop;

static void *runs(void *arg)
{
	stop = 0; /* race: 1 writes */
	while (!stop) /* seen by: stop */
		sched_yield();
	return NULL;
}

int main(void)
{
	pthread_t t;

	alarm(HANGS_AFTER);
	pthread_create(&t, NULL, runs, NULL);
	stop = 1; /* race: 2 writes */
	pthread_join(t, NULL);
	return 0;
}
