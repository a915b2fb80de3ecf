/* Two threads that compute and make no system call meanwhile: they are switched where their time is over. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 3000000 };

static volatile unsigned long sums[2];

static unsigned long mix(unsigned long x)
{
	return x * 6364136223846793005ul + 1442695040888963407ul;
}

static void even_round(unsigned i)
{
	sums[0] += mix(i);
}

static void odd_round(unsigned i)
{
	sums[1] ^= mix(i);
}

static void *even(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		even_round(i);
	return arg;
}

static void *odd(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		odd_round(i);
	return arg;
}

int main(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, even, NULL);
	pthread_create(&t[1], NULL, odd, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	printf("%lx\n", sums[0] + sums[1]);
	return 0;
}
