/* Semaphores: two threads take turns; one with a time limit that passes. */
#include "check.h"
#include <semaphore.h>
#include <time.h>

static sem_t ping, pong;
static char text[201];
static int len;

static void *other(void *arg)
{
	for (int i = 0; i < 100; i++) {
		CHECK(sem_wait(&ping) == 0);
		text[len++] = 'b';
		CHECK(sem_post(&pong) == 0);
	}
	return NULL;
}

int main(void)
{
	struct timespec at;

	CHECK(sem_init(&ping, 0, 0) == 0 && sem_init(&pong, 0, 0) == 0);
	pthread_t th = start(other, NULL);
	for (int i = 0; i < 100; i++) {
		text[len++] = 'a';
		CHECK(sem_post(&ping) == 0);
		CHECK(sem_wait(&pong) == 0);
	}
	join(th);
	for (int i = 0; i < 200; i++)
		CHECK(text[i] == "ab"[i % 2]);
	CHECK(sem_trywait(&ping) == -1 && errno == EAGAIN);
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += 20000000;
	if (at.tv_nsec >= 1000000000)
		at.tv_sec++, at.tv_nsec -= 1000000000;
	CHECK(sem_timedwait(&ping, &at) == -1 && errno == ETIMEDOUT);
	DONE();
}
