/* Three philosophers, three forks, and each takes the left one first. */
#include "bugs.h"

enum { N = 3 };
static pthread_mutex_t forks[N];

static void *eats(void *arg)
{
	const long i = (long)arg;

	for (int k = 0; k < 60; k++) {
		pthread_mutex_lock(&forks[i]);
		pthread_mutex_lock(&forks[(i + 1) % N]);
		pthread_mutex_unlock(&forks[(i + 1) % N]);
		pthread_mutex_unlock(&forks[i]);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[N];

	alarm(HANGS_AFTER);
	for (int i = 0; i < N; i++)
		pthread_mutex_init(&forks[i], NULL);
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, eats, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	return 0;
}
