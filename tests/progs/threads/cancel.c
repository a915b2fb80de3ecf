/* Cancellation: deferred in a blocked call and in a wait, at a test, and asynchronous in a loop; handlers run. */
#include "check.h"
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned, fd[2];
static volatile int begun;
static volatile unsigned long turns;

static void clean(void *arg)
{
	cleaned += (int)(intptr_t)arg;
}

static void unlock(void *arg)
{
	cleaned += 100;
	pthread_mutex_unlock(&lock);
}

static void *in_read(void *arg)
{
	char c;

	pthread_cleanup_push(clean, (void *)1);
	begun = 1;
	CHECK(read(fd[0], &c, 1) == -2);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_wait(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, NULL);
	begun = 1;
	for (;;)
		pthread_cond_wait(&never, &lock);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *at_test(void *arg)
{
	pthread_cleanup_push(clean, (void *)10);
	begun = 1;
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void *anywhere(void *arg)
{
	CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	pthread_cleanup_push(clean, (void *)1000);
	begun = 1;
	for (;;)
		turns++;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *refuses(void *arg)
{
	CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
	begun = 1;
	usleep(2000);
	pthread_testcancel();
	return (void *)5;
}

static void *cancelled(void *(*run)(void *))
{
	begun = 0;
	pthread_t th = start(run, NULL);
	while (!begun)
		usleep(500);
	CHECK(pthread_cancel(th) == 0);
	return join(th);
}

int main(void)
{
	CHECK(pipe(fd) == 0);
	CHECK(cancelled(in_read) == PTHREAD_CANCELED && cleaned == 1);
	CHECK(cancelled(in_wait) == PTHREAD_CANCELED && cleaned == 101);
	CHECK(pthread_mutex_trylock(&lock) == 0);
	CHECK(cancelled(at_test) == PTHREAD_CANCELED && cleaned == 111);
	CHECK(cancelled(anywhere) == PTHREAD_CANCELED && cleaned == 1111);
	CHECK(cancelled(refuses) == (void *)5 && cleaned == 1111);
	DONE();
}
