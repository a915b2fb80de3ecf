/* Memory without a name that processes share: most of it is never touched, and stays so. Some pages are touched by one
 * process, lose their place in its page table, and are read by the other. */
#include "check.h"
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 16384, STEP = 700, TURNS = 12, TOUCHED_MOST = 200 };

static unsigned char *memory;

static unsigned char *page(int i)
{
	return memory + (size_t)i * STEP * PAGE;
}

static void store(int i, int who)
{
	memset(page(i) + 100, who + i, 50);
	CHECK(madvise(page(i), PAGE, MADV_DONTNEED) == 0);
}

static int has(int i, int who)
{
	return page(i)[100] == who + i && page(i)[149] == who + i && page(i)[150] == 0;
}

static void pass(int fd)
{
	CHECK(write(fd, "x", 1) == 1);
}

static void wait_for(int fd)
{
	char c;

	CHECK(read(fd, &c, 1) == 1 && work(2000));
}

static int ours[2], its[2];

static int in_child(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		wait_for(its[0]);
		CHECK(has(i, 'a'));
		store(i, 'n');
		pass(ours[1]);
	}
	return arg ? 1 : 7;
}

static size_t touched(void)
{
	static unsigned char exists[PAGES];
	size_t n = 0;

	CHECK(mincore(memory, (size_t)PAGES * PAGE, exists) == 0);
	for (size_t i = 0; i < PAGES; i++)
		n += exists[i] & 1;
	return n;
}

int main(void)
{
	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
	              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED && pipe(ours) == 0 && pipe(its) == 0);
	pid_t pid = child(in_child, NULL);

	for (int i = 0; i < TURNS; i++) {
		store(i, 'a');
		pass(its[1]);
		wait_for(ours[0]);
		CHECK(has(i, 'n'));
	}
	ends_with(pid, 7);
	CHECK(touched() < TOUCHED_MOST);
	DONE();
}
