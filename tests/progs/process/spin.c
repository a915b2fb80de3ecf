/* Signals must get through while code without markers spins and makes no system call. */
#include "selfcheck.h"
#include <signal.h>
#include <sys/time.h>

static volatile int fired;
static volatile unsigned long state = 1;

static void on_alarm(int sig)
{
	(void)sig;
	fired++;
	state ^= state << 3;
}

__attribute__((no_instrument_function)) static unsigned long spin_until(int n)
{
	unsigned long turns = 0;

	while (fired < n) {
		turns++;
		state = state * 2862933555777941757UL + 3037000493UL;
	}
	return turns;
}

int main(void)
{
	struct itimerval t = { { 0, 20000 }, { 0, 20000 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
	unsigned long turns = 0;
	for (int n = 1; n <= 5; n++)
		turns += spin_until(n);
	signal(SIGALRM, SIG_IGN);
	printf("state %lx after %s turns\n", state, turns ? "some" : "no");
	DONE();
}
