/* A counter that threads change without a lock: with slices of ordinary length nobody sees it, under --chaos updates are
 * lost. Prints how many. Its argument: how often each of the four threads adds. */
#include "check.h"

static int counter;

static __attribute__((noipa)) int get(void)
{
	return counter;
}

static __attribute__((noipa)) void set(int n)
{
	counter = n;
}

static void *adds(void *arg)
{
	for (intptr_t i = (intptr_t)arg; i; i--)
		set(get() + 1);
	return NULL;
}

int main(int argc, char **argv)
{
	intptr_t times = argc > 1 ? atoi(argv[1]) : 1000;
	pthread_t th[4];

	for (int i = 0; i < 4; i++)
		th[i] = start(adds, (void *)times);
	for (int i = 0; i < 4; i++)
		join(th[i]);
	printf("lost %d\n", 4 * (int)times - counter);
	DONE();
}
