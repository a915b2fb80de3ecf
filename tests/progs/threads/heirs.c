/* A mutex with priority inheritance whose owner ends while another thread waits for it, again and again: the kernel gives it
 * to the waiter, and stores that when it likes. */
#include "check.h"
#include <semaphore.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static pthread_mutex_t mutex;
static sem_t held;
static int inherited;

static void *dies(void *arg)
{
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(sem_post(&held) == 0);
	usleep(1000);
	return NULL;
}

static void *inherits(void *arg)
{
	CHECK(sem_wait(&held) == 0);
	CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
	inherited++;
	CHECK(pthread_mutex_consistent(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t attr;

	CHECK(pthread_mutexattr_init(&attr) == 0);
	CHECK(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0);
	CHECK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
	CHECK(pthread_mutex_init(&mutex, &attr) == 0);
	CHECK(sem_init(&held, 0, 0) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t owner = start(dies, NULL), heir = start(inherits, NULL);

		join(owner);
		join(heir);
	}
	CHECK(inherited == ROUNDS);
	DONE();
}
