/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of zeroes that stop, and begin, to be readable: one for each system call that does so. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };

static char *unmapped, *covered, *moved, *closed, *detached, *shrunk, *twice, *part;

static char *pages(int n)
{
	return mmap(NULL, n * PAGE, RW, ANON, -1, 0);
}

static void make(void)
{
	shrunk = sbrk(PAGE);
	unmapped = pages(1);
	covered = pages(1);
	moved = pages(1);
	closed = pages(1);
	twice = pages(1);
	part = pages(2);
}

static void share(void)
{
	detached = shmat(shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600), NULL, 0);
}

/* Long enough for a search to look at checkpoints first. */
__attribute__((noinline)) static void tick(volatile int i)
{
	if (i % 100 == 0)
		getppid();
}

static void wait_a_little(void)
{
	for (int i = 0; i < 4000; i++)
		tick(i);
}

static void take(void)
{
	munmap(unmapped, PAGE);                                  /* unmapped */
	mmap(covered, PAGE, PROT_NONE, ANON | MAP_FIXED, -1, 0); /* covered */
	mremap(moved, PAGE, 256 * PAGE, MREMAP_MAYMOVE);         /* moved */
	mprotect(closed, PAGE, PROT_NONE);                       /* closed */
	if (detached)
		shmdt(detached);                        /* detached */
	sbrk(-PAGE);                                    /* shrunk */
	munmap(twice, PAGE);                            /* twice */
	mmap(twice, PAGE, RW, ANON | MAP_FIXED, -1, 0); /* again */
	munmap(part + PAGE, PAGE);                      /* part */
}

/* For a debugger to call. */
char *reopen(void)
{
	mprotect(closed, PAGE, RW);
	return closed;
}

int main(int argc, char **argv)
{
	make();
	if (argc > 1)
		share();
	wait_a_little();
	take();
	wait_a_little();
	return 0;
}
