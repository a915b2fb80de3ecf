/* Sleeping and timed waits: several sleep at once, a condition's wait times out, a mutex's does; one is woken before. */
#include "check.h"
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int go;

static struct timespec in_ms(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *sleeps(void *arg)
{
	struct timespec t = {0, (long)(intptr_t)arg * 1000000}, before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL) == 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	long ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
	CHECK(ns >= t.tv_nsec);
	return NULL;
}

static void *times_out(void *arg)
{
	struct timespec at = in_ms(10);

	pthread_mutex_lock(&lock);
	CHECK(pthread_cond_timedwait(&cond, &lock, &at) == ETIMEDOUT);
	pthread_mutex_unlock(&lock);
	at = in_ms(5);
	CHECK(pthread_mutex_timedlock(&held, &at) == ETIMEDOUT);
	return NULL;
}

static void *woken(void *arg)
{
	struct timespec at = in_ms(60000);

	pthread_mutex_lock(&lock);
	while (!go)
		CHECK(pthread_cond_timedwait(&cond, &lock, &at) == 0);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return NULL;
}

int main(void)
{
	pthread_t th[5];

	pthread_mutex_lock(&held);
	for (intptr_t i = 0; i < 5; i++)
		th[i] = start(sleeps, (void *)(i * 5));
	for (int i = 0; i < 5; i++)
		join(th[i]);
	join(start(times_out, NULL));
	th[0] = start(woken, NULL);
	usleep(2000);
	pthread_mutex_lock(&lock);
	go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	join(th[0]);
	struct timespec at = in_ms(3);
	th[1] = start(waits, NULL);
	CHECK(pthread_timedjoin_np(th[1], NULL, &at) == ETIMEDOUT);
	pthread_mutex_unlock(&held);
	join(th[1]);
	DONE();
}
