/* SPDX-License-Identifier: GPL-3.0-or-later */
/* opened FILE [opens|leaves]: has FILE mapped while others open it, and makes calls that wait for nobody; FILE.one and FILE.two,
 * too, if there are any. It says "ready" by FILE.ready and goes on when there is FILE.go; prints what it sees in the file
 * before the calls and behind them. With "opens" it opens and closes another file meanwhile. With "leaves" it has unmapped
 * the file before most of the calls.
 * opened FILE store|open|closed|early|others|flood|ended|left: opens FILE to write, and maps it. With "closed" it closes the file
 * before it stores an x by the mapping, with "open" it stores none. With "early" it opens the file before FILE.ready,
 * which it tells by FILE.early. With "flood" it first opens FILE.one and FILE.two more often than inotify keeps. It says
 * that all is done by FILE.open, and keeps the mapping until there is FILE.done; with "ended" it has given up all before. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 20000, PAGE = 4096 };

static const struct timespec LONG = {0, 50000000};
static char name[4096];

static const char *beside(const char *file, const char *suffix)
{
	snprintf(name, sizeof(name), "%s.%s", file, suffix);
	return name;
}

static void say(const char *file, const char *suffix)
{
	close(open(beside(file, suffix), O_CREAT | O_WRONLY, 0600));
}

static void await(const char *file, const char *suffix)
{
	while (access(beside(file, suffix), F_OK) < 0)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Until there is FILE.go. */
static void open_others(const char *file)
{
	while (access(beside(file, "go"), F_OK) < 0)
		for (int i = 0; i < 200; i++)
			close(open("/dev/null", O_RDONLY));
}

static void flood(const char *file)
{
	for (int i = 0; i < CALLS; i++) {
		close(open(beside(file, "one"), O_RDONLY));
		close(open(beside(file, "two"), O_RDONLY));
	}
}

static int write_it(const char *file, const char *how)
{
	if (!strcmp(how, "flood"))
		flood(file);
	int fd = open(file, O_RDWR);

	if (!strcmp(how, "early")) {
		say(file, "early");
		await(file, "ready");
		nanosleep(&LONG, NULL);
	}
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return 1;
	if (!strcmp(how, "closed"))
		close(fd);
	if (!strcmp(how, "early") || !strcmp(how, "others"))
		nanosleep(&LONG, NULL);
	if (strcmp(how, "open"))
		*p = 'x';
	if (!strcmp(how, "ended")) {
		close(fd);
		munmap(p, PAGE);
	}
	say(file, "open");
	await(file, "done");
	return 0;
}

static void map_too(const char *file, const char *suffix)
{
	int fd = open(beside(file, suffix), O_RDONLY);

	if (fd >= 0)
		mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
}

int main(int argc, char **argv)
{
	const volatile char *p;
	char before;
	int fd;

	const int leaves = argc > 2 && !strcmp(argv[2], "leaves");

	if (argc > 2 && !leaves && strcmp(argv[2], "opens"))
		return write_it(argv[1], argv[2]);
	fd = open(argv[1], O_RDONLY);
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	map_too(argv[1], "one");
	map_too(argv[1], "two");
	for (int i = 0; i < 100; i++)
		getppid();
	say(argv[1], "ready");
	if (argc > 2 && !leaves)
		open_others(argv[1]);
	await(argv[1], "go");
	before = *p;
	getppid();
	const char behind = *p;
	if (leaves)
		munmap((char *)p, PAGE);
	for (int i = 0; i < CALLS; i++)
		getppid();
	printf("%c %c\n", before, leaves ? behind : *p);
	return 0;
}
