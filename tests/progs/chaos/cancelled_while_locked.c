/* A thread is cancelled in a call that it makes with the lock. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *writes(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		if (i % 20 == 19 && write(ends[1], "x", 1) < 0)
			break;
		pthread_mutex_unlock(&lock);
		for (volatile int k = 0; k < 30; k++)
			;
		pthread_testcancel();
	}
	return NULL;
}

int main(void)
{
	alarm(HANGS_AFTER);
	if (pipe(ends) < 0)
		return 2;
	for (int i = 0; i < 20; i++) {
		pthread_t t;

		pthread_create(&t, NULL, writes, NULL);
		for (volatile int k = 0; k < 100 * i; k++)
			;
		pthread_cancel(t);
		pthread_join(t, NULL);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}
