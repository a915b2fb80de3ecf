/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program reads of itself in /proc, in parts of many lengths and by each call. It prints the same natively and recorded, with
 * ADDR_NO_RANDOMIZE, but for where the kernel maps. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOM = 1 << 16, CALLS = 4 };

static char whole[ROOM], text[ROOM];

static ssize_t get(int fd, int call, char *to, size_t n, off_t at)
{
	struct iovec v[2] = {{to, n / 2}, {to + n / 2, n - n / 2}};

	switch (call) {
	case 0: return read(fd, to, n);
	case 1: return pread(fd, to, n, at);
	case 2: return readv(fd, v, 2);
	default: return preadv(fd, v, 2, at);
	}
}

static size_t all(const char *path, int call, size_t chunk, char *to)
{
	const int fd = open(path, O_RDONLY);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0)
		perror(path), exit(2);
	while (n + chunk < ROOM && (got = get(fd, call, to + n, chunk, (off_t)n)) > 0)
		n += (size_t)got;
	to[n] = 0;
	close(fd);
	return n;
}

/* The lines' first words. The numbers behind them change while they are read. */
static const char *words(const char *from)
{
	static char to[2][ROOM];
	static int which;
	char *end = to[which = !which];

	for (; *from; from += strcspn(from, "\n"), from += *from == '\n')
		end += sprintf(end, "%.*s\n", (int)strcspn(from, " :\n"), from);
	*end = 0;
	return to[which];
}

/* Each way to read it gives the same. */
static void read_all(const char *path)
{
	int differ = 0;

	if (access(path, F_OK) < 0 && errno == ENOENT) { /* a kernel without NUMA */
		printf("%s: all the same\n", path);
		return;
	}
	all(path, 0, 1000, whole);
	for (int call = 0; call < CALLS; call++)
		for (size_t chunk = 5; chunk < ROOM; chunk = chunk * 5 + 2)
			if (all(path, call, chunk, text), strcmp(words(text), words(whole)) != 0)
				differ++, printf("%s: call %d, parts of %zu bytes differ\n", path,
				                 call, chunk);
	printf("%s: %s\n", path, differ ? "DIFFERS" : "all the same");
}

/* Names and permissions; the kernel's own pages for the vDSO are as many as it likes. */
static void show_maps(void)
{
	for (char *line = strtok(whole, "\n"); line; line = strtok(NULL, "\n")) {
		const char *name = strpbrk(line, "/[");

		if (name && !strncmp(name, "[vvar", 5))
			continue;
		printf("%.4s %s\n", strchr(line, ' ') + 1, name ? name : "");
		if (name && !strcmp(name, "[vdso]"))
			printf("it is %s AT_SYSINFO_EHDR says\n",
			       strtoul(line, NULL, 16) == getauxval(AT_SYSINFO_EHDR) ? "where"
			                                                             : "NOT where");
	}
}

static void show(const char *key)
{
	const char *at = strstr(whole, key);

	printf("%.*s\n", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
}

/* The last of the CPUs is the only one that it wants to have. */
static void allow_last(void)
{
	cpu_set_t cpus;
	int last = CPU_SETSIZE - 1;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	while (!CPU_ISSET(last, &cpus))
		last--;
	CPU_ZERO(&cpus);
	CPU_SET(last, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	all("/proc/self/status", 0, 4096, whole);
	show("Cpus_allowed:");
	show("Cpus_allowed_list:");
}

static void *threads_own(void *arg)
{
	read_all("/proc/thread-self/maps");
	return arg;
}

/* A mapping that comes while the text is read does not tear it. */
static void map_meanwhile(void)
{
	const int fd = open("/proc/self/maps", O_RDONLY);
	const long page = sysconf(_SC_PAGESIZE);
	int torn = 0;
	ssize_t n;
	char part[101], line[512] = "";

	while ((n = read(fd, part, sizeof(part) - 1)) > 0) {
		mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		     0);
		part[n] = 0;
		for (char *p = part; *p; p++) {
			line[strlen(line) + 1] = 0;
			line[strlen(line)] = *p;
			if (*p == '\n') {
				unsigned long start, end;

				torn += sscanf(line, "%lx-%lx %*4c %*x %*x:%*x %*u", &start,
				               &end) != 2 ||
				        start >= end;
				line[0] = 0;
			}
		}
	}
	printf("torn lines: %d, rest %zu\n", torn, strlen(line));
	close(fd);
}

int main(void)
{
	pthread_t t;

	read_all("/proc/self/maps");
	show_maps();
	read_all("/proc/self/numa_maps");
	read_all("/proc/self/status");
	show("TracerPid:");
	show("Seccomp:");
	show("NoNewPrivs:");
	show("Cpus_allowed:");
	show("Cpus_allowed_list:");
	allow_last();
	all("/proc/self/smaps", 0, 4096, whole);
	int hidden = 0;
	for (const char *at = whole; (at = strstr(at, "VmFlags:")); at++)
		hidden++;
	for (const char *at = whole; (at = strstr(at, "\nSize:")); at++)
		hidden--;
	printf("smaps: %s\n", hidden || strstr(whole, "lizard (") ? "ODD" : "whole");
	map_meanwhile();
	pthread_create(&t, NULL, threads_own, NULL);
	pthread_join(t, NULL);
	return 0;
}
