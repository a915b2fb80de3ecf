/* Robust mutexes whose owner dies: held, and with somebody waiting; made consistent, and not. */
#include "check.h"
#include <unistd.h>

static pthread_mutex_t m[3];
static volatile int held;

static void *dies(void *arg)
{
	pthread_mutex_t *mine = arg;

	CHECK(pthread_mutex_lock(mine) == 0);
	CHECK(pthread_mutex_lock(&m[2]) == 0);
	held = 1;
	usleep(3000);
	return NULL;
}

static void *waits(void *arg)
{
	while (!held)
		usleep(1000);
	int ret = pthread_mutex_lock(arg);
	CHECK(ret == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(arg) == 0);
	CHECK(pthread_mutex_unlock(arg) == 0);
	return (void *)1;
}

int main(void)
{
	pthread_mutexattr_t attr;

	CHECK(pthread_mutexattr_init(&attr) == 0);
	CHECK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_mutex_init(&m[i], &attr) == 0);
	pthread_t d = start(dies, &m[0]), w = start(waits, &m[0]);
	join(d);
	CHECK(join(w) == (void *)1);
	CHECK(pthread_mutex_lock(&m[0]) == 0 && pthread_mutex_unlock(&m[0]) == 0);
	CHECK(pthread_mutex_lock(&m[2]) == EOWNERDEAD);
	CHECK(pthread_mutex_unlock(&m[2]) == 0);
	CHECK(pthread_mutex_lock(&m[2]) == ENOTRECOVERABLE);
	DONE();
}
