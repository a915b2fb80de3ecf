/* Nearly all the time one thread hands the turn to another that has been met behind a call. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include "traced.h"

static volatile int over;
static pthread_mutex_t mutex;

/* With each of these a switch of threads takes longer. */
static void *waits(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *naps(void *arg)
{
	while (!over)
		usleep(1);
	return arg;
}

static void *ends(void *arg)
{
	long until = now_ms() + LIMIT_MS;

	while (is_traced() && now_ms() < until)
		usleep(50000);
	usleep(FREE_MS * 1000);
	over = 1;
	return arg;
}

int main(void)
{
	enum { N = 150, NAP = 4 };
	pthread_mutexattr_t attr;
	pthread_t th[N];

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attr);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < N; i++)
		pthread_create(&th[i], NULL, i < NAP ? naps : i == NAP ? ends : waits, NULL);
	while (!over)
		sched_yield();
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < N; i++)
		pthread_join(th[i], NULL);
	puts("all is well");
	return 0;
}
