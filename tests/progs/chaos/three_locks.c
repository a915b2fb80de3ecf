/* Three threads take three locks in a circle. */
#include "bugs.h"

static pthread_mutex_t lock[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *work(void *arg)
{
	long me = (long)arg;

	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&lock[me]);
		pthread_mutex_lock(&lock[(me + 1) % 3]);
		pthread_mutex_unlock(&lock[(me + 1) % 3]);
		pthread_mutex_unlock(&lock[me]);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[3];

	alarm(HANGS_AFTER);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
