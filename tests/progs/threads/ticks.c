/* A timer whose signals come at any instant of three threads that compute: in the middle of a marker, at a turn's end. */
#include "check.h"
#include <signal.h>
#include <sys/time.h>

enum { TICKS = 150 };

static volatile int ticks, of_thread[4];
static __thread volatile int me;

/* One may come while a thread ends. The last one ends them: where all takes longer than their distance, nothing else
 * would ever run. */
static void on_tick(int sig)
{
	const struct itimerval never = {0};

	if (__atomic_add_fetch(&ticks, 1, __ATOMIC_SEQ_CST) == TICKS)
		setitimer(ITIMER_REAL, &never, NULL);
	__atomic_fetch_add(&of_thread[me], 1, __ATOMIC_SEQ_CST);
}

/* A call's marker takes two stores. */
static unsigned __attribute__((noinline)) next(unsigned x)
{
	__asm__ volatile("");
	return x & 1 ? x * 3 + 1 : x / 2;
}

static void *computes(void *arg)
{
	unsigned x = (unsigned)(intptr_t)arg;

	me = (int)x;
	while (ticks < TICKS)
		for (unsigned i = 0; i < 100; i++)
			x = next(x) + i;
	return NULL;
}

int main(void)
{
	const struct itimerval every = {{0, 400}, {0, 400}};
	pthread_t th[3];
	int sum = 0;

	CHECK(signal(SIGALRM, on_tick) != SIG_ERR);
	for (intptr_t i = 0; i < 3; i++)
		th[i] = start(computes, (void *)(i + 1));
	CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (ticks < TICKS)
		;
	for (int i = 0; i < 3; i++)
		join(th[i]);
	CHECK(signal(SIGALRM, SIG_IGN) != SIG_ERR);
	for (int i = 0; i < 4; i++)
		sum += of_thread[i];
	CHECK(sum == ticks);
	DONE();
}
