/* Three threads that hand a token round, so that every run goes the same way; each has variables of its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static long total;
static __thread long mine = 100;
static __thread int calls;

static long twice(long x)
{
	calls++;
	return 2 * x;
}

static long add(long x, int id)
{
	long sum = twice(x);

	sum += id;
	mine += sum;
	return sum;
}

static void wait_turn(int id)
{
	pthread_mutex_lock(&lock);
	while (turn != id)
		pthread_cond_wait(&turned, &lock);
	pthread_mutex_unlock(&lock);
}

static void pass_on(int id)
{
	pthread_mutex_lock(&lock);
	turn = (id + 1) % THREADS;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

static long one_round(int id, int round)
{
	long got;

	wait_turn(id);
	got = add(round, id);
	total += got;
	printf("round %d of %d: %ld\n", round, id, got);
	pass_on(id);
	return got;
}

static void *worker(void *arg)
{
	int id = (int)(long)arg;
	long sum = 0;
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", id);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < ROUNDS; i++)
		sum += one_round(id, i);
	return (void *)(sum + mine);
}

int main(void)
{
	pthread_t t[THREADS];
	void *result;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &result);
		printf("%d: %ld\n", i, (long)result);
	}
	printf("total %ld\n", total);
	return total == 108 ? 0 : 1;
}
