/* Random changes of the address space, with memory written all along: what dirty page tracking may miss. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { AREAS = 40, PAGE = 4096 };

static char *area[AREAS];
static size_t size[AREAS];
static unsigned seed = 1;

static unsigned next(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8;
}

static void map(int k)
{
	if (area[k])
		return;
	size[k] = (1 + next() % 50) * PAGE;
	area[k] = mmap(NULL, size[k], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void remap(int k)
{
	size_t n = (1 + next() % 80) * PAGE;
	char *p = mremap(area[k], size[k], n, MREMAP_MAYMOVE);

	if (p == MAP_FAILED)
		return;
	area[k] = p;
	size[k] = n;
}

static void protect(int k)
{
	mprotect(area[k], size[k] / 2 & ~(PAGE - 1u), PROT_READ);
	mprotect(area[k], size[k], PROT_READ | PROT_WRITE);
}

static void over(int k, int fd)
{
	if (size[k] < 2 * PAGE)
		return;
	mmap(area[k] + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0);
	area[k][PAGE + 10] = 3;
}

static void heap(int round)
{
	static char *top;

	if (!top)
		top = sbrk(0);
	if (sbrk(((int)(next() % 3) - 1) * 20000 + 7000) != (void *)-1 && (char *)sbrk(0) > top)
		memset(top, round, 1);
}

static void touch(int k)
{
	for (int j = 0; j < 20; j++)
		area[k][next() % size[k]] += (char)j;
}

static void unmap(int k)
{
	munmap(area[k], size[k]);
	area[k] = NULL;
}

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	/* It must not keep the recorder from looking at us. */
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_GET_DUMPABLE))
		return 1;

	for (int i = 0; i < 3000; i++) {
		int k = (int)(next() % AREAS);
		unsigned what = next() % 10;

		if (what == 0 || !area[k])
			map(k);
		else if (what == 1)
			unmap(k);
		else if (what == 2)
			remap(k);
		else if (what == 3)
			madvise(area[k] + next() % (size[k] / PAGE) * PAGE, PAGE, MADV_DONTNEED);
		else if (what == 4)
			protect(k);
		else if (what == 5)
			over(k, fd);
		else if (what == 6)
			heap(i);
		else
			touch(k);
	}
	puts("all is well");
	return 0;
}
