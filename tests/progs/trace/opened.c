/* SPDX-License-Identifier: GPL-3.0-or-later */
/* opened FILE: has FILE mapped while others open it, and makes calls that wait for nobody. It says "ready" by FILE.ready
 * and goes on when there is FILE.go; prints what it sees in the file before the calls and behind them.
 * opened FILE store|open|closed: opens FILE to write, and maps it. In the first case it stores an x by the mapping, in the
 * last one it closes the file before. It says so by FILE.open, and keeps it until there is FILE.done. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 20000, PAGE = 4096 };

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

static int write_it(const char *file, const char *how)
{
	int fd = open(file, O_RDWR);
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return 1;
	if (!strcmp(how, "closed"))
		close(fd);
	if (strcmp(how, "open"))
		*p = 'x';
	say(file, "open");
	await(file, "done");
	return 0;
}

int main(int argc, char **argv)
{
	const volatile char *p;
	char before;
	int fd;

	if (argc > 2)
		return write_it(argv[1], argv[2]);
	fd = open(argv[1], O_RDONLY);
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	for (int i = 0; i < 100; i++)
		getppid();
	say(argv[1], "ready");
	await(argv[1], "go");
	before = *p;
	for (int i = 0; i < CALLS; i++)
		getppid();
	printf("%c %c\n", before, *p);
	return 0;
}
