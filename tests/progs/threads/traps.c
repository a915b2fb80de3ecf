/* A SIGTRAP that another process sends is not lost when it comes while a thread is in the middle of a marker, or at a turn's end. */
#include "check.h"
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRAPS = 300 };

static volatile int traps, others, over;
static int heard[2];

static void on_trap(int sig)
{
	traps++;
	(void)!write(heard[1], "", 1);
}

static void on_other(int sig)
{
	others++;
}

static void wait_for(long ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < ns);
}

/* Sends each when the one before was heard of, at some distance behind another signal. */
static int sender(void)
{
	struct pollfd from = { .fd = heard[0], .events = POLLIN };
	char byte;

	for (int i = 0; i < TRAPS; i++) {
		kill(getppid(), SIGUSR1);
		wait_for(i * 500);
		if (kill(getppid(), SIGTRAP) < 0 || poll(&from, 1, 20000) != 1 || read(heard[0], &byte, 1) != 1)
			return 1;
	}
	return 0;
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

	while (!over)
		for (unsigned i = 0; i < 1000; i++)
			x = next(x) + i;
	return (void *)(intptr_t)x;
}

int main(void)
{
	pthread_t th;
	unsigned x = 27;
	int status;
	pid_t pid;

	CHECK(signal(SIGTRAP, on_trap) != SIG_ERR && signal(SIGUSR1, on_other) != SIG_ERR);
	CHECK(pipe(heard) == 0);
	pid = fork();
	if (!pid)
		_exit(sender());
	th = start(computes, (void *)1);
	while (traps < TRAPS && waitpid(pid, &status, WNOHANG) == 0)
		for (unsigned i = 0; i < 1000; i++)
			x = next(x) + i;
	over = 1;
	join(th);
	CHECK(traps == TRAPS);
	CHECK(x && others);
	DONE();
}
