/* The handler is there before what it uses. */
#include "bugs.h"

#include <signal.h>

static int *volatile table;
static pthread_t starts;
static volatile int ready;

static void on_signal(int signo)
{
	table[0]++;
}

static void *sends(void *arg)
{
	while (!ready)
		sched_yield();
	pthread_kill(starts, SIGUSR1);
	return NULL;
}

int main(void)
{
	pthread_t t;

	alarm(HANGS_AFTER);
	starts = pthread_self();
	pthread_create(&t, NULL, sends, NULL);
	signal(SIGUSR1, on_signal);
	ready = 1;
	table = calloc(4, sizeof(*table));
	pthread_join(t, NULL);
	return 0;
}
