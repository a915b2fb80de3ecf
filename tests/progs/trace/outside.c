/* outside WHAT FILE: two processes that have FILE in common (the number of a System V segment, if it is one).
 *   wait    maps it, says "ready" in FILE.ready, sleeps a while and then for a byte in the pipe FILE.pipe; ends with what it
 *           sees in the second page
 *   write   writes an x into the file, then the byte
 *   store   maps it and stores the x, then the byte
 *   brief   the same, and is gone at once
 *   before  maps it, closes it, says so in FILE.mapped, waits for FILE.ready, and then does as store
 *   look    maps it to read only, for a while
 *   open    opens it as if to write
 *   alone   stores the x itself; reads and writes the file, too
 *   wait-private, alone-private
 *           the same, but map it privately
 *   wait-reading
 *           as wait, but maps it to read only, and stores nothing
 *   wait-renamed
 *           as wait-reading, but has mapped it privately before, when it had another name
 *   wait-unlinked, wait-unlinked-private
 *           the same, but has mapped it by a name that is gone then, while another one leads to it
 *   stay    as store, and stays for a while with it open
 *   child   shared memory without a name, in which a child stores
 *   polled MS|exec|spawn
 *           the same after MS milliseconds, and no system call until then; or the child runs another program
 * What others store while the program runs, and not while it waits, is not recorded faithfully; so it waits. */
#include <ctype.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int fd = -1;

static volatile char *map(const char *name, bool write, bool privately)
{
	if (isdigit(*name))
		return shmat(atoi(name), NULL, write ? 0 : SHM_RDONLY);
	fd = open(name, write ? O_RDWR : O_RDONLY);
	return mmap(NULL, 2 * PAGE, write ? PROT_READ | PROT_WRITE : PROT_READ,
	            privately ? MAP_PRIVATE : MAP_SHARED, fd, 0);
}

static void rest(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static int beside(const char *name, const char *suffix, int flags)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.%s", name, suffix);
	if (*suffix == 'p')
		mkfifo(path, 0600);
	return open(path, flags | O_CLOEXEC, 0600);
}

/* Its own stores are seen as well. */
static int see(volatile char *p, int pipe, int rounds)
{
	char b;

	for (int i = 0; i < rounds; i++) {
		p[0]++;
		rest(1);
	}
	if (pipe >= 0 && read(pipe, &b, 1) != 1)
		return 1;
	p[1] = p[PAGE];
	printf("%c after some rounds: %s\n", p[1], p[0] == (char)rounds ? "right" : "wrong");
	return p[PAGE] != 'x';
}

static int see_only(volatile char *p, int pipe)
{
	char b;

	if (read(pipe, &b, 1) != 1)
		return 1;
	printf("%c after some rounds: right\n", p[PAGE]);
	return p[PAGE] != 'x';
}

static int with_child(void)
{
	volatile char *p =
	    mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pipes[2];

	if (pipe(pipes) < 0)
		return 1;
	if (fork() == 0) {
		rest(1500);
		p[PAGE] = 'x';
		_exit(write(pipes[1], "", 1) != 1);
	}
	int ret = see(p, pipes[0], 1000);
	wait(NULL);
	return ret;
}

/* Not recorded faithfully. */
static int polled(const char *how)
{
	volatile char *p =
	    mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned long rounds = 0;
	pid_t pid = 0;

	if (!strcmp(how, "spawn"))
		return posix_spawnp(&pid, "true", NULL, NULL, (char *[]){"true", NULL}, environ);
	if (fork() == 0) {
		rest(atoi(how));
		if (!strcmp(how, "exec"))
			execlp("sleep", "sleep", "0.3", NULL);
		p[PAGE] = 'x';
		rest(500);
		_exit(0);
	}
	while (isdigit(*how) ? p[PAGE] != 'x' : ++rounds < 300000000)
		;
	wait(NULL);
	return 0;
}

static int alone(volatile char *p)
{
	char b[8];

	for (int i = 0; i < 300; i++) {
		p[PAGE] = i;
		if (fd >= 0 && (pwrite(fd, &i, 1, 7) != 1 || pread(fd, b, 8, 0) != 8))
			return 1;
		rest(1);
	}
	p[PAGE] = 'x';
	return see(p, -1, 0);
}

/* The first one, before the program is there. */
static void wait_for_program(const char *name)
{
	char ready[4096];

	close(fd);
	close(beside(name, "mapped", O_CREAT | O_WRONLY));
	snprintf(ready, sizeof(ready), "%s.ready", name);
	while (access(ready, F_OK) != 0)
		rest(10);
}

static int map_by_old_name(const char *name)
{
	char old[4096];

	snprintf(old, sizeof(old), "%s.old", name);
	if (rename(name, old) < 0 || map(old, false, true) == MAP_FAILED)
		return -1;
	return rename(old, name);
}

/* The first name is the one by which it was opened. */
static volatile char *map_unlinked(const char *name, bool privately)
{
	char other[4096];

	snprintf(other, sizeof(other), "%s.other", name);
	fd = open(name, O_RDONLY);
	if (fd < 0 || link(name, other) < 0 || unlink(name) < 0)
		return MAP_FAILED;
	volatile char *p =
	    mmap(NULL, 2 * PAGE, PROT_READ, privately ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	return rename(other, name) < 0 ? MAP_FAILED : p;
}

static int wake(const char *name)
{
	return write(beside(name, "pipe", O_WRONLY), "", 1) != 1;
}

int main(int argc, char **argv)
{
	const char *what = argv[1], *name = argv[2];

	if (argc == 2)
		return with_child();
	if (!strcmp(what, "write"))
		return pwrite(open(name, O_RDWR), "x", 1, PAGE) != 1 || wake(name);
	if (!strcmp(what, "open"))
		return close(open(name, O_RDWR));
	if (!strcmp(what, "polled"))
		return polled(name);
	int pipe = beside(name, "pipe", O_RDWR);
	bool waits = !strncmp(what, "wait", 4), is_alone = !strncmp(what, "alone", 5);
	bool renamed = !strcmp(what, "wait-renamed"), unlinked = !strncmp(what, "wait-unlinked", 13);
	bool reads = renamed || unlinked || !strcmp(what, "wait-reading");
	if (renamed && map_by_old_name(name) < 0)
		return 2;
	volatile char *p = unlinked ? map_unlinked(name, strstr(what, "-private"))
	                            : map(name, strcmp(what, "look") && !reads, strstr(what, "-private"));
	if (p == MAP_FAILED)
		return 2;
	if (!strcmp(what, "look"))
		return rest(700), p[0] < 0;
	if (waits || is_alone)
		beside(name, "ready", O_CREAT | O_WRONLY);
	if (is_alone)
		return alone(p);
	if (waits)
		return reads ? see_only(p, pipe) : see(p, pipe, 300);
	if (!strcmp(what, "before"))
		wait_for_program(name);
	if (strcmp(what, "brief"))
		rest(1000);
	p[PAGE] = 'x';
	if (wake(name))
		return 1;
	if (!strcmp(what, "stay"))
		rest(1500);
	return 0;
}
