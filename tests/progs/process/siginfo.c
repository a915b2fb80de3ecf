/* What a handler is told of its signal, though the tracer holds it and sends it anew; handlers that serve once. */
#include "selfcheck.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, timers, wrong, once;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	wrong += info->si_signo != SIGALRM || info->si_code != SI_KERNEL;
	alarms++;
}

static void on_timer(int sig, siginfo_t *info, void *context)
{
	wrong += info->si_signo != SIGUSR2 || info->si_code != SI_TIMER || info->si_value.sival_int != 77;
	timers++;
}

static void on_once(int sig)
{
	once++;
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	CHECK(sigaction(sig, &a, NULL) == 0);
}

static unsigned spin(unsigned x)
{
	for (int i = 0; i < 1000; i++)
		x = x & 1 ? x * 3 + 1 : x / 2;
	return x;
}

int main(void)
{
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct itimerspec often = { { 0, 3000000 }, { 0, 3000000 } }, stop = { { 0, 0 }, { 0, 0 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct sigaction a = { .sa_handler = on_once, .sa_flags = SA_RESETHAND }, now;
	volatile unsigned x = 27;
	timer_t timer;

	event.sigev_value.sival_int = 77;
	handle(SIGALRM, on_alarm);
	handle(SIGUSR2, on_timer);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &often, NULL) == 0);
	CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (alarms < 10 || timers < 10)
		x = spin(x + 27);
	CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
	CHECK(timer_settime(timer, 0, &stop, NULL) == 0);
	CHECK(wrong == 0);

	/* Its default is to be ignored. */
	CHECK(sigaction(SIGWINCH, &a, NULL) == 0);
	CHECK(raise(SIGWINCH) == 0 && once == 1);
	CHECK(sigaction(SIGWINCH, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	CHECK(raise(SIGWINCH) == 0 && once == 1);
	DONE();
}
