/* The flag is looked at before the lock is taken: the wake-up comes in between. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int ready;

static void *waits(void *arg)
{
	if (!ready) { /* race: 1 reads */
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&cond, &lock); /* seen by: ready */
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *wakes(void *arg)
{
	ready = 1; /* race: 2 writes */
	pthread_mutex_lock(&lock);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	return two(waits, wakes);
}
