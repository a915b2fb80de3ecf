/* What a program can do to mappings at an address where it has nothing, and a recorder may have
 * something. own_pages: at the marker buffers; own_pages stub: at the recorder's code; own_pages
 * ADDR: there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096, LONG = 1 << 24 };

static int fib(int x)
{
	return x < 2 ? x : fib(x - 1) + fib(x - 2);
}

static void told(const char *what, long ret)
{
	printf("%s: %s\n", what, ret == -1 ? strerrorname_np(errno) : "done");
}

static char *map(char *at, size_t len, int flags)
{
	return mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/* The recorder's code is the first that is mapped from there on. */
static char *stub(void)
{
	unsigned char in;
	char *at = (char *)0x7f6800000000;

	while (mincore(at, PAGE, &in) != 0)
		at += PAGE;
	return at;
}

/* Not ours: neighbours on both sides go, what is between them is left alone. */
static void around(char *at)
{
	char *low = map(at - LONG, PAGE, MAP_FIXED_NOREPLACE);
	char *high = map(at + LONG, PAGE, MAP_FIXED_NOREPLACE);

	*low = *high = 1;
	told("munmap", munmap(low, high + PAGE - low));
	told("below", msync(low, PAGE, MS_ASYNC));
	told("above", msync(high, PAGE, MS_ASYNC));
}

static void try(char *at)
{
	int segment = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
	char *other = map(NULL, PAGE, 0);

	told("munmap", munmap(at, PAGE));
	told("mprotect", mprotect(at, PAGE, PROT_NONE));
	told("madvise", madvise(at, PAGE, MADV_DONTNEED));
	told("mremap", (long)mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
	told("mremap to it", (long)mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at));
	told("mmap", (long)map(at, PAGE, MAP_FIXED));
	told("mmap if free", (long)map(at, PAGE, MAP_FIXED_NOREPLACE));
	told("shmat", (long)shmat(segment, at, SHM_REMAP));
	shmctl(segment, IPC_RMID, NULL);
	around(at);
	printf("%d\n", fib(12));
}

int main(int argc, char **argv)
{
	char *at = NULL;

	if (argc == 1)
		__asm__ volatile("mov %%r15, %0" : "=r"(at));
	else if (strcmp(argv[1], "stub") == 0)
		at = stub();
	else
		at = (char *)strtoul(argv[1], NULL, 0);
	try((char *)((unsigned long)at & ~(PAGE - 1ul)));
	return 0;
}
