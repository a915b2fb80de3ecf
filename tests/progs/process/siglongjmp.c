/* Leaves a busy loop 20 times by siglongjmp out of a timer's handler. */
#include "selfcheck.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf back;
static volatile long spins;

static void on_alarm(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

int main(void)
{
	struct itimerval t = { { 0, 3000 }, { 0, 3000 } };
	volatile int left = 0;

	signal(SIGALRM, on_alarm);
	if (sigsetjmp(back, 1))
		left++;
	else /* not before: the jump needs what is saved last, too */
		setitimer(ITIMER_REAL, &t, NULL);
	while (left < 20)
		spins++;
	t.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &t, NULL);
	CHECK(left >= 20); /* one may come before the timer is off */
	printf("spins %ld\n", spins);
	DONE();
}
