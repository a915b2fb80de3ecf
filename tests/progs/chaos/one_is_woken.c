/* Two wait for one event, and only one of them is woken. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int open_now;

static void *waits(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!open_now)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	alarm(HANGS_AFTER);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, waits, NULL);
	pthread_mutex_lock(&lock);
	open_now = 1;
	pthread_mutex_unlock(&lock);
	pthread_cond_signal(&cond);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
