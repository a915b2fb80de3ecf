/* Waiting without the kernel: on an atomic in a loop with markers, on a pthread_spinlock_t in the C library, which has
 * none. Only the end of a slice lets the other thread go on. */
#include "check.h"
#include <sched.h>
#include <stdatomic.h>

static _Atomic int turn;
static pthread_spinlock_t lock;
static int counter;

static void *takes_turns(void *arg)
{
	int me = (int)(intptr_t)arg;

	for (int i = 0; i < 6; i++) {
		while (atomic_load(&turn) != me)
			;
		atomic_store(&turn, !me);
	}
	return NULL;
}

static void *adds(void *arg)
{
	for (int i = 0; i < 50000; i++) {
		CHECK(pthread_spin_lock(&lock) == 0);
		counter++;
		CHECK(pthread_spin_unlock(&lock) == 0);
	}
	return NULL;
}

static void *wants(void *arg)
{
	CHECK(pthread_spin_lock(&lock) == 0);
	counter++;
	CHECK(pthread_spin_unlock(&lock) == 0);
	return NULL;
}

int main(void)
{
	pthread_t a = start(takes_turns, (void *)0), b = start(takes_turns, (void *)1);

	join(a);
	join(b);
	CHECK(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE) == 0);
	a = start(adds, NULL);
	b = start(adds, NULL);
	join(a);
	join(b);
	CHECK(counter == 100000);
	CHECK(pthread_spin_lock(&lock) == 0);
	a = start(wants, NULL);
	b = start(wants, NULL);
	for (int i = 0; i < 3; i++)
		sched_yield();
	CHECK(counter == 100000);
	CHECK(pthread_spin_unlock(&lock) == 0);
	join(a);
	join(b);
	CHECK(counter == 100002);
	DONE();
}
