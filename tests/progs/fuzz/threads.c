/* Four threads that hand a token round, for damaged recordings with switches. */
#include <pthread.h>
#include <stdio.h>

enum { N = 4, ROUNDS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int token, sum;

static void *run(void *arg)
{
	int me = *(int *)arg;

	for (int r = 0; r < ROUNDS; r++) {
		pthread_mutex_lock(&lock);
		while (token != me)
			pthread_cond_wait(&moved, &lock);
		for (int i = 0; i < 3000; i++)
			sum += i % (me + 2);
		token = (token + 1) % N;
		pthread_cond_broadcast(&moved);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t th[N];
	int id[N];

	for (int i = 0; i < N; i++) {
		id[i] = i;
		if (pthread_create(&th[i], NULL, run, &id[i]))
			return 1;
	}
	for (int i = 0; i < N; i++)
		pthread_join(th[i], NULL);
	printf("%d\n", sum);
	return 0;
}
