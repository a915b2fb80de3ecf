/* Two threads add to one variable, in a single statement without a lock. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 2000 };

static int n;

static void *add(void *p)
{
	for (int i = 0; i < ROUNDS; i++)
		n++; /* race: 1 reads, 2 writes, 3 writes */
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", n);
	return n != 2 * ROUNDS; /* seen by: n */
}
