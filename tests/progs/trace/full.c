/* Makes more calls than the log of calls has room for, again and again, each with a result of its own, and prints what it has
 * seen. Beside it: a signal that interrupts it, another thread, the heap, the time-stamp counter. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { ROUNDS = 60000, EACH = 1000 };

static volatile sig_atomic_t ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd;
static uint64_t seen;

static void on_tick(int sig)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	seen = seen * 31 + (uint64_t)now.tv_nsec;
	ticks++;
}

static void note(uint64_t value)
{
	seen = seen * 31 + value;
}

static void read_one(int round)
{
	struct timespec now;
	uint64_t bytes[2];

	if (pread(fd, bytes, sizeof(bytes), round % EACH * 16) != sizeof(bytes))
		abort();
	note(bytes[0] ^ bytes[1]);
	clock_gettime(CLOCK_MONOTONIC, &now);
	note((uint64_t)now.tv_nsec);
}

static void grow(int round)
{
	const long step = round / EACH % 2 ? -65536 : 65536;
	char *at = sbrk(step);

	if (at == (char *)-1)
		abort();
	if (step > 0)
		memset(at, round, 65536);
	note((uintptr_t)at & 0xffff);
}

/* All signals are blocked most of the time, and none in between. */
static void mask(int round)
{
	sigset_t set;

	if (round % EACH == 0) {
		sigfillset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
	}
	if (round % EACH == EACH / 2) {
		sigemptyset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
	}
	sigprocmask(SIG_BLOCK, NULL, &set);
	if (sigismember(&set, SIGUSR1) != (round % EACH < EACH / 2))
		abort();
}

static void *others(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		read_one(i);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	const struct itimerval often = {{0, 9000}, {0, 9000}}, never = {0};
	pthread_t thread;

	fd = open("/proc/self/exe", O_RDONLY);
	signal(SIGALRM, on_tick);
	if (!strcmp(mode, "signals") || !strcmp(mode, "masks"))
		setitimer(ITIMER_REAL, &often, NULL);
	if (!strcmp(mode, "threads") && pthread_create(&thread, NULL, others, NULL))
		abort();
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		read_one(i);
		if (!strcmp(mode, "counter"))
			note(__rdtsc());
		if (!strcmp(mode, "masks"))
			mask(i);
		if (strcmp(mode, "threads") && i % EACH == EACH - 1)
			grow(i);
		pthread_mutex_unlock(&lock);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	if (!strcmp(mode, "masks") && ticks < 2)
		abort();
	if (!strcmp(mode, "threads"))
		pthread_join(thread, NULL);
	printf("%s %016llx %d\n", mode, (unsigned long long)seen, (int)ticks);
	return 0;
}
