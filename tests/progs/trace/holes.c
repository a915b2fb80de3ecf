/* holes compared FILE: 64 MB of memory that only this process uses, beside a file that others open; then many calls.
 *
 * holes memory|memfd|file|segment FILE: 64 GB of shared memory, or of a file that is mapped shared, of which a few pages
 * have contents. Others store there, and some of it is emptied. What is there, and how much it takes, is printed. */
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PLACES = 5 };
static const size_t most = 64UL << 30, other = 1UL << 30;
static size_t size, place[PLACES];
static char *map;
static int fd = -1;

static void see(const char *when)
{
	struct stat st = {0};

	printf("%s:", when);
	for (int i = 0; i < PLACES; i++)
		printf(" %d %d", map[place[i]], map[place[i] + PAGE / 2]);
	if (fd >= 0)
		fstat(fd, &st);
	printf(", %ld\n", (long)st.st_blocks / 8);
	fflush(stdout);
}

static int open_it(const char *how, const char *name)
{
	int flags = MAP_SHARED | MAP_NORESERVE;

	size = most;
	if (strcmp(how, "segment") == 0) {
		size = other;
		int id = shmget(IPC_PRIVATE, size, 0600 | SHM_NORESERVE);
		map = shmat(id, NULL, 0);
		shmctl(id, IPC_RMID, NULL);
		return map != (char *)-1;
	}
	if (strcmp(how, "memory") == 0)
		flags |= MAP_ANONYMOUS;
	else
		fd = strcmp(how, "memfd") ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) : memfd_create("x", 0);
	if (fd >= 0 && (ftruncate(fd, size) < 0 || pwrite(fd, "was here", 8, size / 2 + PAGE) != 8))
		return 0;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	return map != MAP_FAILED;
}

static void child(void)
{
	if (fork() == 0) {
		map[place[0]] = 0;
		map[place[3]] = 8;
		_exit(0);
	}
	wait(NULL);
	getppid();
}

static void empty(size_t at, size_t len)
{
	if (fd < 0)
		madvise(map + at, len, MADV_REMOVE);
	else
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, len);
}

static void touch(const char *name)
{
	close(open(name, O_WRONLY | O_CREAT, 0600));
}

static int compared(const char *name)
{
	char ready[4096], opened[4096];
	size_t len = 64UL << 20;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	snprintf(ready, sizeof(ready), "%s.ready", name);
	snprintf(opened, sizeof(opened), "%s.opened", name);
	memset(p, 1, len);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	if (ftruncate(fd, PAGE) < 0 || mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		return 1;
	touch(ready);
	while (access(opened, F_OK) < 0)
		usleep(10000);
	for (int i = 0; i < 1500; i++)
		getppid();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "compared") == 0)
		return compared(argv[2]);
	if (argc < 3 || !open_it(argv[1], argv[2]))
		return 2;
	size_t all[PLACES] = {0, 2 * PAGE, size / 4, size / 2 + PAGE, size - PAGE};
	memcpy(place, all, sizeof(all));
	map[place[0]] = 1;
	map[place[1] + PAGE / 2] = 2;
	map[place[2]] = 3;
	map[place[4]] = 4;
	see("stored");
	child();
	see("by a child");
	empty(size / 8, size / 2);
	see("emptied");
	map[place[2]] = 5;
	child();
	empty(0, size / 2);
	see("emptied again");
	if (fd >= 0 && (ftruncate(fd, size / 2) < 0 || ftruncate(fd, size) < 0))
		return 1;
	see("cut");
	/* the same once more: what is stored here shows there */
	char *again = fd < 0 ? map : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	again[place[1]] = 6;
	see("mapped twice");
	empty(0, size / 2);
	see("emptied there");
	unlink(argv[2]);
	return 0;
}
