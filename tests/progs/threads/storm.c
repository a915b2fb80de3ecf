/* Threads made and joined in quick succession, some by threads. */
#include "check.h"

static void *leaf(void *arg)
{
	return (void *)((intptr_t)arg * 3 + 1);
}

static void *parent(void *arg)
{
	intptr_t n = (intptr_t)arg, sum = 0;
	pthread_t th[3];

	for (intptr_t i = 0; i < 3; i++)
		th[i] = start(leaf, (void *)(n + i));
	for (intptr_t i = 0; i < 3; i++)
		sum += (intptr_t)join(th[i]);
	return (void *)sum;
}

int main(void)
{
	for (intptr_t i = 0; i < 100; i++)
		CHECK(join(start(leaf, (void *)i)) == (void *)(i * 3 + 1));
	for (int round = 0; round < 10; round++) {
		pthread_t th[10];

		for (intptr_t i = 0; i < 10; i++)
			th[i] = start(parent, (void *)i);
		for (intptr_t i = 0; i < 10; i++)
			CHECK(join(th[i]) == (void *)(9 * i + 12));
	}
	DONE();
}
