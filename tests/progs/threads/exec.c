/* execve in a thread that is not the first one, while others sleep, compute and wait for locks. */
#include "check.h"
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long turns;

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

static void *sleeps(void *arg)
{
	sleep(100);
	return NULL;
}

static void *goes_on(void *arg)
{
	char *argv[] = {arg, "again", NULL};

	usleep(5000);
	execv("/no/such/program", argv);
	CHECK(errno == ENOENT);
	execv("/proc/self/exe", argv);
	CHECK(0);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		CHECK(join(start(waits, NULL)) == NULL);
		DONE();
	}
	pthread_mutex_lock(&lock);
	start(computes, NULL);
	start(waits, NULL);
	start(sleeps, NULL);
	join(start(goes_on, argv[0]));
	return 1;
}
