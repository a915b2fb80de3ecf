/* Mutexes with priority inheritance: contended, timed out, robust with a dead owner, and below a condition variable. */
#include "check.h"
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock, robust;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t held;
static int counter, go;

static void *adds(void *arg)
{
	for (int i = 0; i < 100; i++) {
		CHECK(pthread_mutex_lock(&lock) == 0);
		int was = counter;
		if (i % 10 == 0)
			usleep(100);
		counter = was + 1;
		CHECK(pthread_mutex_unlock(&lock) == 0);
	}
	return NULL;
}

static void *too_late(void *arg)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += 5000000;
	if (at.tv_nsec >= 1000000000)
		at.tv_sec++, at.tv_nsec -= 1000000000;
	CHECK(pthread_mutex_timedlock(&lock, &at) == ETIMEDOUT);
	return NULL;
}

static void *waits(void *arg)
{
	CHECK(pthread_mutex_lock(&lock) == 0);
	while (!go)
		CHECK(pthread_cond_wait(&cond, &lock) == 0);
	counter++;
	CHECK(pthread_mutex_unlock(&lock) == 0);
	return NULL;
}

static void *dies(void *arg)
{
	CHECK(pthread_mutex_lock(&robust) == 0);
	CHECK(sem_post(&held) == 0);
	usleep(2000);
	return NULL;
}

static void *inherits(void *arg)
{
	CHECK(sem_wait(&held) == 0);
	CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&robust) == 0);
	CHECK(pthread_mutex_unlock(&robust) == 0);
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t th[3];

	CHECK(pthread_mutexattr_init(&attr) == 0);
	CHECK(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0);
	CHECK(pthread_mutex_init(&lock, &attr) == 0);
	CHECK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
	CHECK(pthread_mutex_init(&robust, &attr) == 0);
	for (int i = 0; i < 3; i++)
		th[i] = start(adds, NULL);
	for (int i = 0; i < 3; i++)
		join(th[i]);
	CHECK(counter == 300);
	CHECK(pthread_mutex_lock(&lock) == 0);
	join(start(too_late, NULL));
	CHECK(pthread_mutex_unlock(&lock) == 0);
	for (int i = 0; i < 3; i++)
		th[i] = start(waits, NULL);
	usleep(2000);
	CHECK(pthread_mutex_lock(&lock) == 0);
	go = 1;
	CHECK(pthread_cond_broadcast(&cond) == 0);
	CHECK(pthread_mutex_unlock(&lock) == 0);
	for (int i = 0; i < 3; i++)
		join(th[i]);
	CHECK(counter == 303);
	CHECK(sem_init(&held, 0, 0) == 0);
	th[0] = start(dies, NULL);
	th[1] = start(inherits, NULL);
	join(th[0]);
	join(th[1]);
	CHECK(pthread_mutex_lock(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
	DONE();
}
