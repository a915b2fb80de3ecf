/* Floating-point and vector registers survive handlers; SIGFPE and SIGTRAP are the program's own. */
#include "selfcheck.h"
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf back;
static volatile int fpes, traps, alarms;
static volatile double shaken;

static void on_fpe(int sig)
{
	(void)sig;
	fpes++;
	siglongjmp(back, 1);
}

static void on_trap(int sig)
{
	(void)sig;
	traps++;
}

static void on_alarm(int sig)
{
	double x = 0.1;

	(void)sig;
	for (int i = 0; i < 50; i++)
		x = x * 1.7 - 0.3 * x * x;
	shaken += x;
	alarms++;
}

static double series(int n)
{
	double s = 0, t[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	for (int i = 0; i < n; i++)
		for (int k = 0; k < 8; k++) {
			t[k] = t[k] * 0.999 + 1e-3 * k;
			s += i % 2 ? t[k] : -t[k];
		}
	return s;
}

int main(void)
{
	struct itimerval t = { { 0, 2000 }, { 0, 2000 } };
	volatile int zero = 0;

	signal(SIGFPE, on_fpe);
	signal(SIGTRAP, on_trap);
	if (!sigsetjmp(back, 1))
		zero = 7 / zero;
	CHECK(fpes == 1);
	__asm__ volatile("int3");
	CHECK(traps == 1);
	double calm = series(20000);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
	while (alarms < 20)
		CHECK(series(20000) == calm);
	signal(SIGALRM, SIG_IGN);
	printf("series %.17g\n", calm);
	DONE();
}
