/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guarded FILE HOW CALLS: maps FILE shared to read it, starts a child, and makes so many calls that wait for
 * nobody. Then the child writes to the file if HOW is "write", and the program looks until it sees that, with a
 * call between two looks. It opens the file for writing itself, and that waits for nobody either. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void child(const char *file, const char *how, int go)
{
	char c;
	int fd;

	if (read(go, &c, 1) != 1 || !strcmp(how, "nothing"))
		_exit(0);
	fd = open(file, O_RDWR);
	if (fd < 0)
		_exit(1);
	_exit(pwrite(fd, "x", 1, 0) != 1);
}

int main(int argc, char **argv)
{
	const char *file = argv[1], *how = argv[2];
	int fd = open(file, O_RDONLY), go[2], status;
	const volatile char *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	if (p == MAP_FAILED || pipe(go) < 0)
		return 1;
	for (int i = 0; i < 100; i++)
		getuid();
	pid_t pid = fork();
	if (pid == 0)
		child(file, how, go[0]);
	for (int i = atoi(argv[3]); i > 0; i--)
		getppid();
	if (write(go[1], "", 1) != 1)
		return 1;
	while (!strcmp(how, "write") && *p != 'x')
		getegid();
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	for (int i = 0; i < 50; i++)
		getegid();
	fd = open(file, O_WRONLY | O_NONBLOCK);
	printf("%c %s\n", *p, fd < 0 ? "refused" : "opened");
	return 0;
}
