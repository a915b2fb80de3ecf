/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timer whose signals come faster than a recorder can deliver them: by setitimer(), or by
 * timer_create(). The program ends if it goes on between them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { EVERY_US = 40 };

static volatile int ticks, sum;

static int twice(int x)
{
	return x & 1 ? x + 1 : x - 1;
}

static void on_tick(int signo)
{
	ticks++;
	sum += twice(signo + ticks);
}

static void begin(int posix)
{
	if (!posix) {
		struct itimerval every = {{0, EVERY_US}, {0, EVERY_US}};

		signal(SIGALRM, on_tick);
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

	begin(argc > 1 && !strcmp(argv[1], "posix"));
	for (int r = 0; ticks < most; r++)
		sum += twice(r);
	printf("well\n");
	return 0;
}
