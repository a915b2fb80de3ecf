/* dropped: stores to shared memory without a name, has it dropped from its page table, and maps a part of it once more: the rest
 * is as it was.
 *
 * dropped vfork: a child in its memory stores there. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4 << 20, PAGE = 4096, ROUNDS = 6, CHILDREN = 5 };
static unsigned char *memory;

/* For so long that a checkpoint is made. */
static void compute(void)
{
	for (int i = 0; i < 20; i++) {
		for (volatile long k = 0; k < 3000000; k++)
			;
		getppid();
	}
}

static unsigned sum(void)
{
	unsigned all = 0;

	for (size_t i = 0; i < SIZE; i += PAGE)
		all = all * 31 + memory[i];
	return all;
}

static int map(void)
{
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return memory != MAP_FAILED;
}

static int drop(void)
{
	memory[PAGE] = 1;
	compute();
	memory[SIZE - 3 * PAGE] = 2;
	if (madvise(memory, SIZE, MADV_DONTNEED) < 0)
		return 1;
	unsigned char *part = mremap(memory, 0, SIZE / 2, MREMAP_MAYMOVE);
	if (part == MAP_FAILED)
		return 1;
	printf("%d %u\n", part[PAGE], sum());
	return 0;
}

static int lend(void)
{
	volatile int own = 0;

	for (int i = 0; i < CHILDREN; i++) {
		int status = -1;
		const pid_t pid = vfork();

		if (pid == 0) {
			own += 2;
			memory[(i + 7) * PAGE] = 3;
			_exit(4);
		}
		if (waitpid(pid, &status, 0) != pid)
			return 1;
		printf("%#x %d %u\n", status, own, sum());
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return map() ? lend() : 1;
	for (int i = 0; i < ROUNDS; i++)
		if (!map() || drop())
			return 1;
	return 0;
}
