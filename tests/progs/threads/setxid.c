/* The C library makes every thread change its ids: a signal to each, while one computes, one sleeps, one waits. */
#include "check.h"
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile unsigned long turns;

static void *computes(void *arg)
{
	while (!stop)
		turns++;
	return NULL;
}

static void *sleeps(void *arg)
{
	while (!stop)
		usleep(20000);
	return NULL;
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t th[3];

	pthread_mutex_lock(&lock);
	th[0] = start(computes, NULL);
	th[1] = start(sleeps, NULL);
	th[2] = start(waits, NULL);
	for (int i = 0; i < 10; i++) {
		CHECK(setgid(getgid()) == 0);
		CHECK(setuid(getuid()) == 0);
		usleep(1000);
	}
	stop = 1;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 3; i++)
		join(th[i]);
	DONE();
}
