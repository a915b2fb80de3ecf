/* threads: cancellation unwinds through instrumented frames with cleanup handlers; thread-local data
 * build: -pthread -fexceptions
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include "check.h"

static int cleaned;
static __thread int mine;
static sem_t ready;

static void on_cleanup(void *arg)
{
	cleaned += *(int *)arg;
}

static void scoped(int *p)
{
	cleaned += *p;
}

static void wait_forever(int depth)
{
	__attribute__((cleanup(scoped))) int x = 10;

	if (depth) {
		wait_forever(depth - 1);
		return;
	}
	sem_post(&ready);
	for (;;)
		pause();
}

static void *cancelled(void *arg)
{
	int one = 1;

	mine = 5;
	pthread_cleanup_push(on_cleanup, &one);
	wait_forever(3);
	pthread_cleanup_pop(0);
	return arg;
}

static void *working(void *arg)
{
	long n = (long)arg;

	for (int i = 0; i < 1000; i++)
		mine += i % 7 ? 1 : 2;
	return (void *)(n + mine);
}

int main(void)
{
	pthread_t t, w[3];
	void *result;
	long sum = 0;

	sem_init(&ready, 0, 0);
	CHECK(pthread_create(&t, NULL, cancelled, NULL) == 0);
	sem_wait(&ready);
	pthread_cancel(t);
	pthread_join(t, &result);
	CHECK(result == PTHREAD_CANCELED);
	for (long i = 0; i < 3; i++)
		pthread_create(&w[i], NULL, working, (void *)i);
	for (int i = 0; i < 3; i++) {
		pthread_join(w[i], &result);
		sum += (long)result;
	}
	printf("cleaned %d sum %ld\n", cleaned, sum);
	CHECK(cleaned == 41 && sum == 3432 && mine == 0);
	DONE("cancel");
}
