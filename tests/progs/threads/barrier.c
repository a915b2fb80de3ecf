/* Barriers: nobody is in round r+1 while somebody is in round r; one serial thread in each. */
#include "check.h"

enum { N = 4, ROUNDS = 50 };

static pthread_barrier_t barrier;
static int round_of[N], serial[ROUNDS];

static void *run(void *arg)
{
	int me = (int)(intptr_t)arg;

	for (int r = 0; r < ROUNDS; r++) {
		round_of[me] = r;
		int ret = pthread_barrier_wait(&barrier);
		CHECK(ret == 0 || ret == PTHREAD_BARRIER_SERIAL_THREAD);
		for (int i = 0; i < N; i++)
			CHECK(round_of[i] == r);
		if (ret)
			serial[r]++;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	pthread_t th[N];

	CHECK(pthread_barrier_init(&barrier, NULL, N) == 0);
	for (intptr_t i = 0; i < N; i++)
		th[i] = start(run, (void *)i);
	for (int i = 0; i < N; i++)
		join(th[i]);
	for (int r = 0; r < ROUNDS; r++)
		CHECK(serial[r] == 1);
	CHECK(pthread_barrier_destroy(&barrier) == 0);
	DONE();
}
