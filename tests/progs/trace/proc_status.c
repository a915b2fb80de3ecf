/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program reads in /proc where that is not simply its own. argv[1]: a file with a status, of which
 * lines are shown; or
 * exec: what it opened before an execve;
 * many: its smaps, of thousands of mappings;
 * beside: maps, with code on both sides of the recorder's;
 * ended: its status when the first thread is gone;
 * mounted: maps of a /proc at argv[2]. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char text[8192];

static int into_text(int fd)
{
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static void into_text_of(const char *path)
{
	const int fd = open(path, O_RDONLY);

	into_text(fd);
	close(fd);
}

/* ARGV: the path, and which lines. */
static void show_status(char **argv)
{
	into_text_of(*argv);
	while (*++argv) {
		const char *at = strstr(text, *argv);

		printf("%.*s\n", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
	}
}

static void over_execve(char **argv)
{
	char number[12];

	if (!argv[2]) {
		snprintf(number, sizeof(number), "%d", open("/proc/self/maps", O_RDONLY));
		execl("/proc/self/exe", argv[0], argv[1], number, (char *)NULL);
	}
	printf("maps of the program before: %s\n", into_text(atoi(argv[2])) ? "SOME" : "none");
}

static void many(void)
{
	enum { PARTS = 4000 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * PARTS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int fd = open("/proc/self/smaps", O_RDONLY);
	int n = 0;

	for (size_t i = 0; i < PARTS; i++)
		mprotect(at + 2 * i * page, page, PROT_NONE);
	while (into_text(fd))
		for (const char *p = text; (p = strstr(p, "VmFlags:")); p++)
			n++;
	printf("all of them: %s\n", n > PARTS ? "yes" : "NO");
}

/* The kernel makes one mapping of what is alike and side by side. */
static void beside(void)
{
	enum { MOST = 48 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t mapped = 0, listed = 0, start, end;
	char line[512];

	for (size_t at = 0x7f67ffff0000; mapped < MOST && at < 0x7f6810000000; at += page)
		mapped +=
		    mmap((void *)at, page, PROT_READ | PROT_EXEC,
		         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (void *)at;
	FILE *f = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%zx-%zx r-xp", &start, &end) == 2 && start >= 0x7f67ffff0000 &&
		    end < 0x7f6830000000)
			listed += (end - start) / page;
	fclose(f);
	printf("%zu mapped, %s listed\n", mapped, mapped == listed ? "all" : "NOT all");
}

static void *is_traced(void *arg)
{
	char *wanted[] = {"/proc/self/status", "State:\tZ", "TracerPid:", NULL};

	do
		into_text_of(*wanted);
	while (!strstr(text, wanted[1]));
	show_status(wanted);
	exit(0);
	return arg;
}

static void mounted(const char *at)
{
	snprintf(text, sizeof(text), "%s/self/maps", at);
	const int fd = open(text, O_RDONLY);

	into_text(fd);
	printf("the recorder is %s\n", strstr(text, "lizard (") ? "THERE" : "not there");
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "exec"))
		over_execve(argv);
	else if (!strcmp(argv[1], "many"))
		many();
	else if (!strcmp(argv[1], "beside"))
		beside();
	else if (!strcmp(argv[1], "ended") && pthread_create(&thread, NULL, is_traced, NULL) == 0)
		pthread_exit(NULL);
	else if (!strcmp(argv[1], "mounted"))
		mounted(argv[2]);
	else
		show_status(argv + 1);
	return 0;
}
