/* Pages that change all the time, and then do not; what is done to mappings while they do. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 512 };

static volatile unsigned sink;
static unsigned amount;

/* Some work, and an event at which a checkpoint may be taken. */
static void work(void)
{
	for (unsigned i = 0; i < amount; i++)
		sink = sink * 33 + i;
	syscall(SYS_getppid);
}

static void write_all(unsigned char *mem, unsigned from, unsigned to, unsigned value)
{
	for (unsigned p = from; p < to; p++)
		memcpy(mem + p * PAGE + p, &value, sizeof(value));
}

static void expect(const unsigned char *mem, unsigned from, unsigned to, unsigned value)
{
	for (unsigned p = from; p < to; p++) {
		if (memcmp(mem + p * PAGE + p, &value, sizeof(value)) != 0) {
			printf("page %u is wrong\n", p);
			exit(1);
		}
	}
}

static unsigned char *map(void *at, unsigned pages, int flags)
{
	void *mem = mmap(at, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (mem == MAP_FAILED)
		exit(2);
	return mem;
}

static void heat(unsigned char *mem, unsigned from, unsigned to, unsigned rounds)
{
	for (unsigned r = 1; r <= rounds; r++) {
		write_all(mem, from, to, r);
		work();
	}
	expect(mem, from, to, rounds);
}

/* A byte of a page that has just stopped changing changes, and changes back. */
static void blink(unsigned char *mem)
{
	volatile unsigned char *at = mem + 7 * PAGE;

	*at = 1;
	*at = 0;
	for (unsigned r = 0; r < 20; r++)
		work();
}

static void remap(unsigned char *mem)
{
	unsigned char *moved = map(NULL, PAGES / 4, 0);

	mprotect(mem, PAGES / 4 * PAGE, PROT_READ);
	if (mremap(mem + PAGES / 4 * PAGE, PAGES / 4 * PAGE, PAGES / 4 * PAGE,
	           MREMAP_MAYMOVE | MREMAP_FIXED, moved) != moved)
		exit(2);
	map(mem + PAGES / 2 * PAGE, PAGES / 4, MAP_FIXED);
	madvise(mem + PAGES / 4 * 3 * PAGE, PAGES / 8 * PAGE, MADV_DONTNEED);
	work();
	expect(mem, 0, PAGES / 4, 30);
	for (unsigned p = 0; p < PAGES / 4; p++)
		moved[p * PAGE] = 3;
	for (unsigned r = 0; r < 10; r++)
		work();
	mprotect(mem, PAGES / 4 * PAGE, PROT_READ | PROT_WRITE);
	heat(mem, 0, PAGES / 4, 20);
	heat(mem, PAGES / 2, PAGES, 20);
}

static void child_writes(unsigned char *mem)
{
	volatile unsigned char *at = mem + 9 * PAGE;
	pid_t pid = vfork();

	if (!pid) {
		*at = 42;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	if (*at != 42)
		exit(3);
	work();
}

int main(int argc, char **argv)
{
	unsigned char *mem = map(NULL, PAGES, 0);
	struct rusage u[2];

	amount = (unsigned)atoi(argv[2]);
	getrusage(RUSAGE_SELF, &u[0]);
	heat(mem, 0, PAGES, (unsigned)atoi(argv[1]));
	getrusage(RUSAGE_SELF, &u[1]);
	blink(mem);
	heat(mem, 0, PAGES, 30);
	child_writes(mem);
	heat(mem, 0, PAGES, 30);
	remap(mem);
	printf("%ld faults, all is well\n", u[1].ru_minflt - u[0].ru_minflt);
	return 0;
}
