/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timer's signals interrupt a loop: signals MILLIONS-OF-ROUNDS MICROSECONDS prints how many came.
 * MICROSECONDS 0: no timer. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile unsigned came;
static volatile unsigned long sum;

static void on_tick(int signo)
{
	(void)signo;
	came++;
}

static void set(long us)
{
	const struct itimerval every = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &every, NULL);
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) * 1000000 : 1000000;
	struct sigaction act = {.sa_handler = on_tick, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &act, NULL);
	set(argc > 2 ? atol(argv[2]) : 1000);
	for (unsigned long i = 0; i < rounds; i++)
		sum += i ^ sum >> 3;
	set(0);
	printf("%u\n", came);
	return 0;
}
