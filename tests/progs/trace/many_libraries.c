/* SPDX-License-Identifier: GPL-3.0-or-later */
/* many_libraries FOLDER N HOW: loads FOLDER/0.so and so on, each of which is a file of its own, and looks at what the dynamic
 * linker has made of their data. HOW: "plain"; "signals": a timer interrupts it all the time; "threads": another thread makes
 * calls meanwhile; "fresh": each file has just been changed; "kill": a child kills it at some time. With -shared it is such
 * a library.
 *
 * many_libraries FOLDER N: another process, which writes to all of them all the time, but nothing new. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { DATA = 1700, REST = 3000, TWICE = 2 };

/* The linker puts zeroes behind the data, where the file has something else. */
static int data[DATA] = {[0] = 5, [DATA - 1] = 7}, rest[REST], *pointer = &data[DATA - 1];

/* As it is loaded, and with what was stored there. */
int library_is_well(int stored)
{
	int sum = *pointer;

	for (int i = 0; i < DATA; i++)
		sum += data[i];
	for (int i = 0; i < REST; i++)
		sum += rest[i] - stored;
	return sum == 19;
}

void library_store(int value)
{
	for (int i = 0; i < REST; i++)
		rest[i] = value;
}

static volatile sig_atomic_t n_signals;
static volatile int over;

static void handler(int sig)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)sig;
	n_signals++;
	if (at != MAP_FAILED)
		munmap(at, 4096);
}

static void *other(void *ignored)
{
	while (!over)
		getppid();
	return ignored;
}

static void begin(const char *how)
{
	const struct itimerval often = {{0, 1700}, {0, 1700}};
	pthread_t thread;
	pid_t self = getpid();

	for (int i = 0; i < 100; i++) /* from here on it is worth it */
		getuid();
	signal(SIGALRM, handler);
	if (!strcmp(how, "signals"))
		setitimer(ITIMER_REAL, &often, NULL);
	if (!strcmp(how, "threads"))
		pthread_create(&thread, NULL, other, NULL);
	if (!strcmp(how, "kill") && !fork()) {
		usleep((useconds_t)(getpid() * 7919 % 20000));
		kill(self, SIGKILL);
		_exit(0);
	}
}

/* Long enough for checkpoints. */
static void compute(void)
{
	for (volatile int i = 0; i < 10000000; i++)
		;
}

enum { MOST = 100 };

/* The last byte of each. */
static int write_all(const char *folder, int n)
{
	const pid_t parent = getppid();
	char path[4096], last;
	int fd[MOST];
	off_t at = 0;

	for (int i = 0; i < n && i < MOST; i++) {
		snprintf(path, sizeof(path), "%s/%d.so", folder, i);
		fd[i] = open(path, O_RDWR);
		at = lseek(fd[i], -1, SEEK_END);
		if (at < 0 || pread(fd[i], &last, 1, at) != 1)
			return 1;
	}
	while (getppid() == parent)
		for (int i = 0; i < n && i < MOST; i++)
			pwrite(fd[i], &last, 1, at);
	return 0;
}

int main(int argc, char **argv)
{
	const int n = atoi(argv[2]);
	if (argc == 3)
		return write_all(argv[1], n);
	void *library[n];
	char path[4096];
	int well = 0;

	begin(argv[3]);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%d.so", argv[1], i);
		if (!strcmp(argv[3], "fresh"))
			utimes(path, NULL);
		if (!(library[i] = dlopen(path, i % 2 ? RTLD_NOW : RTLD_LAZY)))
			return 1;
		if (i % 8 == 0)
			compute();
		well += ((int (*)(int))dlsym(library[i], "library_is_well"))(0);
		((void (*)(int))dlsym(library[i], "library_store"))(i);
	}
	compute();
	for (int i = 0; i < n; i++)
		well += ((int (*)(int))dlsym(library[i], "library_is_well"))(i);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	over = 1;
	printf("%s\n", well == TWICE * n ? "all is well" : "something is wrong");
	return 0;
}
