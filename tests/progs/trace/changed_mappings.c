/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changed_mappings FILE HOW: maps the file, which is changed then, and unmaps, protects or replaces the changed page. HOW: it
 * changes the file "self", or its "child" does. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 40, ROUNDS = 6 };

static void change(int fd, const char *path, int round, int by_child)
{
	pid_t child = by_child ? fork() : 0;

	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	if (by_child)
		fd = open(path, O_RDWR);
	pwrite(fd, "xyz", 3, 4 * PAGE + round);
	if (by_child)
		_exit(0);
}

static void calls(void)
{
	for (int i = 0; i < 10; i++)
		getppid();
}

/* What is seen in its place. */
static int change_page(char *at, int fd, int round)
{
	switch (round % 3) {
	case 0: return munmap(at, PAGE);
	case 1: return mprotect(at - PAGE, 2 * PAGE, PROT_READ) + at[round];
	default:
		return mmap(at, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
		               at
		           ? at[round]
		           : -1;
	}
}

int main(int argc, char **argv)
{
	const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	char page[PAGE];
	int well = fd >= 0;

	memset(page, 5, sizeof(page));
	for (int i = 0; i < PAGES; i++)
		well &= write(fd, page, sizeof(page)) == sizeof(page);
	for (int i = 0; i < 10; i++) /* from here on it is worth it */
		calls();
	for (int i = 0; i < ROUNDS; i++) {
		char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

		calls();
		change(fd, argv[1], i, !strcmp(argv[2], "child"));
		calls();
		well &= at[4 * PAGE + i] == 'x';
		well &= change_page(at + 4 * PAGE, fd, i) == (i % 3 == 0   ? 0
		                                              : i % 3 == 1 ? 'x'
		                                                           : 5);
		calls();
		well &= at[PAGE] == 5 && at[7 * PAGE] == 5;
	}
	puts(well ? "all is well" : "something is wrong");
	return 0;
}
