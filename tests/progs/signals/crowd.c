/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timer whose signals come faster than a recorder can deliver them: by setitimer(), with a handler
 * that they may interrupt (nested), or by timer_create(). The program ends if it goes on between them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { EVERY_US = 40, DEEPEST = 64 << 10 };

static volatile int ticks, sum;
/* Of the stack: a handler that is interrupted before its first instruction counts as well. */
static char *top;
static volatile long deepest;

static int twice(int x)
{
	return x & 1 ? x + 1 : x - 1;
}

static void on_tick(int signo)
{
	const long depth = top - (char *)__builtin_frame_address(0);

	ticks++;
	if (depth > deepest)
		deepest = depth;
	sum += twice(signo + ticks);
}

static void begin(const char *kind)
{
	const struct sigaction act = {.sa_handler = on_tick,
	                              .sa_flags = strcmp(kind, "nested") ? 0 : SA_NODEFER};

	if (strcmp(kind, "posix")) {
		struct itimerval every = {{0, EVERY_US}, {0, EVERY_US}};

		sigaction(SIGALRM, &act, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		return;
	}
	const struct timespec time = {0, EVERY_US * 1000};
	struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
	timer_t timer;

	signal(SIGRTMIN + 1, on_tick);
	timer_create(CLOCK_MONOTONIC, &how, &timer);
	timer_settime(timer, 0, &(struct itimerspec){time, time}, NULL);
}

int main(int argc, char **argv)
{
	const int most = argc > 2 ? atoi(argv[2]) : 300;

	top = __builtin_frame_address(0);
	begin(argc > 1 ? argv[1] : "interval");
	for (int r = 0; ticks < most; r++)
		sum += twice(r);
	if (deepest > DEEPEST)
		printf("handlers in each other take %ld bytes of the stack\n", deepest);
	else
		printf("well\n");
	return 0;
}
