/* A bounded queue with a mutex and two condition variables: three producers, two consumers. */
#include "check.h"

enum { ROOM = 7, EACH = 400, PRODUCERS = 3, CONSUMERS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int ring[ROOM], n, in, out;

static void put(int x)
{
	pthread_mutex_lock(&lock);
	while (n == ROOM)
		pthread_cond_wait(&not_full, &lock);
	ring[in] = x;
	in = (in + 1) % ROOM;
	n++;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

static int get(void)
{
	pthread_mutex_lock(&lock);
	while (n == 0)
		pthread_cond_wait(&not_empty, &lock);
	int x = ring[out];
	out = (out + 1) % ROOM;
	n--;
	pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&lock);
	return x;
}

static void *producer(void *arg)
{
	for (int i = 1; i <= EACH; i++)
		put((int)(intptr_t)arg * EACH + i);
	return NULL;
}

static void *consumer(void *arg)
{
	intptr_t sum = 0;

	for (int x; (x = get()) > 0;)
		sum += x;
	return (void *)sum;
}

int main(void)
{
	pthread_t p[PRODUCERS], c[CONSUMERS];
	intptr_t sum = 0, all = PRODUCERS * EACH;

	for (intptr_t i = 0; i < CONSUMERS; i++)
		c[i] = start(consumer, NULL);
	for (intptr_t i = 0; i < PRODUCERS; i++)
		p[i] = start(producer, (void *)i);
	for (int i = 0; i < PRODUCERS; i++)
		join(p[i]);
	for (int i = 0; i < CONSUMERS; i++)
		put(0);
	for (int i = 0; i < CONSUMERS; i++)
		sum += (intptr_t)join(c[i]);
	CHECK(sum == all * (all + 1) / 2);
	DONE();
}
