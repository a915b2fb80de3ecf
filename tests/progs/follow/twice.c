/* Memory that is mapped more than once and shared with a child: each process sees it the same at all its addresses, and what
 * the other one has stored. */
#include "check.h"
#include <sys/mman.h>
#include <sys/shm.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, ROUNDS = 3 };

typedef unsigned char byte;

static byte *file, *file_end, *own, *nameless, *nameless_too, *segment, *segment_too;

static void same(volatile byte *a, volatile byte *b, int seed)
{
	for (int i = 0; i < 300; i++) {
		int at = i * 37 % PAGE;
		a[at] = (byte)(seed + i);
		CHECK(b[at] == (byte)(seed + i));
		b[PAGE - 1 - at] = (byte)(seed ^ i);
		CHECK(a[PAGE - 1 - at] == (byte)(seed ^ i));
	}
}

static void all_same(int seed)
{
	same(file + PAGE, file_end, seed);
	CHECK(getppid() > 0);
	same(nameless, nameless_too, seed + 1);
	CHECK(getppid() > 0);
	same(segment, segment_too, seed + 2);
}

static void map_all(void)
{
	int fd = memfd_create("twice", 0), id = shmget(IPC_PRIVATE, PAGE, 0600 | IPC_CREAT);

	CHECK(fd >= 0 && id >= 0 && ftruncate(fd, 2 * PAGE) == 0);
	file = mmap(NULL, 2 * PAGE, RW, MAP_SHARED, fd, 0);
	file_end = mmap(NULL, PAGE, RW, MAP_SHARED, fd, PAGE);
	own = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE, fd, 0);
	nameless = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	nameless_too = mremap(nameless, 0, PAGE, MREMAP_MAYMOVE);
	segment = shmat(id, NULL, 0);
	segment_too = shmat(id, NULL, 0);
	CHECK(file != MAP_FAILED && file_end != MAP_FAILED && own != MAP_FAILED);
	CHECK(nameless != MAP_FAILED && nameless_too != MAP_FAILED);
	CHECK(segment != (byte *)-1 && segment_too != (byte *)-1);
	CHECK(shmctl(id, IPC_RMID, NULL) == 0 && close(fd) == 0);
}

static int in_child(void *arg)
{
	int seed = *(int *)arg;

	file[PAGE + 77] = 5;
	CHECK(((volatile byte *)own)[PAGE + 77] == 5 && ((volatile byte *)file_end)[77] == 5);
	file[1] = (byte)seed;
	CHECK(((volatile byte *)own)[1] == 9);
	all_same(seed);
	nameless[9] = 99;
	file_end[9] = 98;
	segment[9] = 97;
	return 5;
}

int main(void)
{
	map_all();
	all_same(1);
	own[1] = 9;
	for (int i = 0; i < ROUNDS; i++) {
		ends_with(child(in_child, &i), 5);
		CHECK(nameless_too[9] == 99 && file[PAGE + 9] == 98 && segment_too[9] == 97);
		CHECK(own[PAGE + 9] == 98 && own[1] == 9);
		all_same(10 * i);
	}
	DONE();
}
