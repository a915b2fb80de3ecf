/* Readers and writers: a reader never sees half of a write. Writers go first: with one CPU readers that yield while they
 * hold the lock never let one in else. */
#include "check.h"
#include <sched.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static volatile int a, b, done;

static void *writer(void *arg)
{
	for (int i = 0; i < 200; i++) {
		CHECK(pthread_rwlock_wrlock(&lock) == 0);
		a = a + 1;
		if (i % 16 == 0)
			sched_yield();
		b = b + 1;
		CHECK(pthread_rwlock_unlock(&lock) == 0);
	}
	return NULL;
}

static void *reader(void *arg)
{
	intptr_t looks = 0;

	while (!done) {
		CHECK(pthread_rwlock_rdlock(&lock) == 0);
		int x = a;
		if (++looks % 8 == 0)
			sched_yield();
		CHECK(x == a && a == b);
		CHECK(pthread_rwlock_unlock(&lock) == 0);
		if (pthread_rwlock_tryrdlock(&lock) == 0)
			pthread_rwlock_unlock(&lock);
	}
	return (void *)looks;
}

int main(void)
{
	pthread_t w[2], r[3];

	for (int i = 0; i < 3; i++)
		r[i] = start(reader, NULL);
	for (int i = 0; i < 2; i++)
		w[i] = start(writer, NULL);
	for (int i = 0; i < 2; i++)
		join(w[i]);
	done = 1;
	for (int i = 0; i < 3; i++)
		join(r[i]);
	CHECK(a == 400 && b == 400);
	DONE();
}
