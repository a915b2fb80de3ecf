/* All threads are given the address of one variable. */
#include "bugs.h"

enum { N = 3 };
static volatile int had[N + 1];

static void *notes(void *arg)
{
	had[*(volatile int *)arg]++; /* race: 2 reads */
	return NULL;
}

int main(void)
{
	pthread_t t[N];
	volatile int i;

	for (i = 0; i < N; i++) /* race: 1 writes */
		pthread_create(&t[i], NULL, notes, (void *)&i);
	for (int k = 0; k < N; k++)
		pthread_join(t[k], NULL);
	return had[0] != 1 || had[1] != 1 || had[2] != 1; /* seen by: i */
}
