/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One kind of system call over and over. Arguments: the kind, how many calls. Without arguments it names the kinds. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int file, null, ends[2], sockets[2];
static char small[64], large[65536];

static long ask(void)
{
	return syscall(SYS_getppid);
}
static long now(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t);
}
static long status(void)
{
	struct stat st;

	return fstat(file, &st);
}
static long read_small(void)
{
	return pread(file, small, sizeof(small), 0) - (ssize_t)sizeof(small);
}
static long read_large(void)
{
	return pread(file, large, sizeof(large), 0) - (ssize_t)sizeof(large);
}
static long write_small(void)
{
	return write(null, small, sizeof(small)) - (ssize_t)sizeof(small);
}
static long write_large(void)
{
	return write(null, large, sizeof(large)) - (ssize_t)sizeof(large);
}
/* Two calls. */
static long through_pipe(void)
{
	ssize_t n = write(ends[1], small, 1);

	return n - read(ends[0], small, 1);
}
static long through_socket(void)
{
	ssize_t n = send(sockets[0], small, 16, 0);

	return n - recv(sockets[1], small, 16, 0);
}
static long open_close(void)
{
	return close(open("/dev/null", O_RDONLY));
}
static long map_unmap(void)
{
	char *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p[0] = 1;
	return munmap(p, 65536);
}
static long waits(void)
{
	struct pollfd p = {.fd = ends[0], .events = POLLIN};

	return poll(&p, 1, 0);
}
/* A process: several calls, and the child's. */
static long child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return waitpid(pid, NULL, 0) - pid;
}

/* Two threads, there and back. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static int turn;
static void hand(int me)
{
	pthread_mutex_lock(&mutex);
	turn = !me;
	pthread_cond_signal(&cond[!me]);
	while (turn != me)
		pthread_cond_wait(&cond[me], &mutex);
	pthread_mutex_unlock(&mutex);
}
static void *partner(void *arg)
{
	for (;;)
		hand(1);
	return arg;
}
static long hand_over(void)
{
	static pthread_t other;

	if (!other && pthread_create(&other, NULL, partner, NULL))
		return 1;
	hand(0);
	return 0;
}

static const struct kind {
	const char *name;
	int calls; /* in each round */
	long (*round)(void);
} kinds[] = {
    {"getppid", 1, ask},           {"clock_gettime", 1, now},     {"fstat", 1, status},
    {"pread-64", 1, read_small},   {"pread-64K", 1, read_large},  {"write-64", 1, write_small},
    {"write-64K", 1, write_large}, {"pipe-1", 2, through_pipe},   {"socket-16", 2, through_socket},
    {"open-close", 2, open_close}, {"mmap-munmap", 2, map_unmap}, {"poll", 1, waits},
    {"fork-wait", 2, child},       {"hand-over", 2, hand_over},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

int main(int argc, char **argv)
{
	long calls = argc > 2 ? atol(argv[2]) : 0;

	file = open("/bin/sh", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	if (file < 0 || null < 0 || pipe(ends) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		return 1;
	for (int i = 0; i < KINDS; i++) {
		if (argc < 2)
			puts(kinds[i].name);
		else if (strcmp(argv[1], kinds[i].name) == 0)
			for (long n = 0; n < calls; n += kinds[i].calls)
				if (kinds[i].round() != 0 && kinds[i].round != ask)
					return 2;
	}
	return 0;
}
