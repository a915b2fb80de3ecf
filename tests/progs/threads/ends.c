/* How a process with threads ends, as its argument says: exit in another thread, a fatal signal in one, abort, a kill from
 * within, the last of all threads leaving, all of them waiting for ever. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long turns;
static const char *how;

static void *computes(void *arg)
{
	for (;;)
		turns++;
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&lock);
	return NULL;
}

static void *ends(void *arg)
{
	usleep(2000);
	if (strcmp(how, "exit") == 0)
		exit(7);
	if (strcmp(how, "segv") == 0)
		*(volatile int *)8 = 1;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "term") == 0)
		pthread_kill(pthread_self(), SIGTERM);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t th;

	how = argc > 1 ? argv[1] : "";
	pthread_mutex_lock(&lock);
	if (strcmp(how, "last") == 0) {
		start(ends, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(how, "never") != 0)
		start(computes, NULL);
	start(waits, NULL);
	th = start(ends, NULL);
	puts("begun");
	fflush(stdout);
	if (strcmp(how, "return") == 0)
		return 5;
	join(th);
	waits(NULL);
	return 1;
}
