/* A signal that comes when a marker buffer has a byte or a few left, so that the next call's marker does not fit. */
#include "selfcheck.h"
#include <signal.h>
#include <sys/time.h>

enum { ROUNDS = 60, GUARD = 0xf000, ENTRY = 5 /* bytes of a call's marker */ };

static volatile long alarms, calls;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

static inline __attribute__((always_inline)) long left(void)
{
	unsigned long pointer;

	__asm__ volatile("mov %%r15, %0" : "=r"(pointer));
	return GUARD - (long)(pointer & 0xffff);
}

__attribute__((noinline)) static void call(long i)
{
	if (i * 2654435761u >> 20 & 1)
		calls++;
}

/* Without a marker on the way, for longer than the alarm's interval. */
static inline __attribute__((always_inline)) void wait_here(void)
{
	long n = 4000000;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
}

int main(void)
{
	struct itimerval t = { { 0, 700 }, { 0, 700 } };
	int rounds = 0;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
	for (long i = 0; i < 3000000 && rounds < ROUNDS; i++) {
		if (left() > 0 && left() < ENTRY) {
			wait_here();
			call(i);
			rounds++;
		}
		call(i);
	}
	printf("%s, %s\n", alarms ? "alarms came" : "no alarm came", rounds < ROUNDS ? "never near the end" : "near the end");
	DONE();
}
