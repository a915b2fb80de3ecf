/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guarded FILE HOW CALLS: maps FILE shared to read it, starts a child, and makes so many calls that wait for
 * nobody. Then the child writes to the file if HOW is "write", and the program looks until it sees that, with a
 * call between two looks. When it has seen it, and made some more calls, the child closes the file. It opens the file
 * for writing itself, and that waits for nobody either.
 *
 * With "full", "read" and "wait" a call of the program's waits meanwhile, for room in a pipe, for a byte, and
 * for the child's end, and is over because of what the child does behind that. Then the program looks at once. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MUCH = 60000, PAUSE_US = 100000, FIRST = 20, MORE = 50 };

static char much[MUCH];
static int full[2];

static void empty(void)
{
	close(full[1]);
	while (read(full[0], much, MUCH) > 0)
		continue;
}

static void child(const char *file, const char *how, int go)
{
	char c;
	int fd;

	if (read(go, &c, 1) != 1 || !strcmp(how, "nothing"))
		_exit(0);
	/* the program waits by then */
	if (strcmp(how, "write"))
		usleep(PAUSE_US);
	fd = open(file, O_RDWR);
	if (fd < 0 || pwrite(fd, "x", 1, 0) != 1)
		_exit(1);
	if (!strcmp(how, "full"))
		empty();
	if (!strcmp(how, "write") && read(go, &c, 1) != 1)
		_exit(1);
	_exit(!strcmp(how, "read") && write(full[1], "", 1) != 1);
}

static void fill(const volatile char *p)
{
	while (*p != 'x')
		if (write(full[1], much, MUCH) != MUCH)
			_exit(1);
	close(full[1]);
}

int main(int argc, char **argv)
{
	const char *file = argv[1], *how = argv[2];
	int fd = open(file, O_RDONLY), go[2], status;
	sigset_t ends;
	const volatile char *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	if (p == MAP_FAILED || pipe(go) < 0 || pipe(full) < 0)
		return 1;
	/* its signal would be a stop */
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	for (int i = 0; i < 100; i++)
		getuid();
	/* from now on they have no stop */
	for (int i = 0; i < FIRST; i++)
		if (write(full[1], "", 1) != 1 || read(full[0], much, 1) != 1)
			return 1;
	pid_t pid = fork();
	if (pid == 0)
		child(file, how, go[0]);
	for (int i = atoi(argv[3]); i > 0; i--)
		getppid();
	if (write(go[1], "", 1) != 1)
		return 1;
	while (!strcmp(how, "write") && *p != 'x')
		getegid();
	if (!strcmp(how, "write")) {
		for (int i = 0; i < MORE; i++)
			getegid();
		if (write(go[1], "", 1) != 1)
			return 1;
	}
	if (!strcmp(how, "full"))
		fill(p);
	if (!strcmp(how, "read") && (read(full[0], much, 1) != 1 || *p != 'x'))
		return 1;
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	const char seen = *p;
	for (int i = 0; i < 2 * MORE; i++)
		getgid();
	fd = open(file, O_WRONLY | O_NONBLOCK);
	printf("%c %s\n", seen, fd < 0 ? "refused" : "opened");
	return 0;
}
