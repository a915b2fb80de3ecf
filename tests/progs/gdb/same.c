/* Threads that call the same function over and over, which calls another one over and over: each returns to where the others
 * return to, and waits for its turn in code that the others run through. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, ROUNDS = 8, CALLS = 1000000 };

static volatile unsigned sums[THREADS];

__attribute__((noinline)) static unsigned leaf(unsigned x)
{
	return x % 7 > 3 ? x * 5 : x + 3;
}

__attribute__((noinline)) static unsigned work(unsigned x)
{
	for (unsigned i = 0; i < CALLS; i++)
		x = leaf(x + i);
	return x;
}

static void *thread(void *arg)
{
	volatile unsigned *sum = arg;

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned x = round;
		x = work(x);
		*sum += x;
	}
	return NULL;
}

int main(void)
{
	pthread_t id[THREADS];
	unsigned all = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&id[i], NULL, thread, (void *)&sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
		all += sums[i];
	}
	printf("%u\n", all);
	return 0;
}
