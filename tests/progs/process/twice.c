/* The same memory at two addresses: what is stored through one mapping is read through the other, with no system call in
 * between. */
#include "selfcheck.h"
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, ROUNDS = 300 };

typedef unsigned char byte;

static byte *map(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	byte *p = mmap(at, len, prot, flags | (at ? MAP_FIXED : 0), fd, offset);

	CHECK(p != MAP_FAILED);
	return p;
}

static int memory(off_t len)
{
	int fd = memfd_create("twice", 0);

	CHECK(fd >= 0 && ftruncate(fd, len) == 0);
	return fd;
}

static int file(char *name, size_t len)
{
	byte page[PAGE];
	int fd = mkstemp(strcpy(name, "/tmp/lizard-twice-XXXXXX"));

	CHECK(fd >= 0);
	memset(page, 'f', sizeof(page));
	for (size_t n = 0; n < len; n += sizeof(page))
		CHECK(write(fd, page, sizeof(page)) == sizeof(page));
	return fd;
}

/* Every byte that is stored through A is read through B, and the other way round: no calls. */
static void same(volatile byte *a, volatile byte *b, size_t len, byte seed)
{
	for (int round = 0; round < ROUNDS; round++) {
		size_t at = (size_t)round * 37 % len;
		byte was = a[at];
		CHECK(b[at] == was);
		a[at] = (byte)(seed + round);
		CHECK(b[at] == (byte)(seed + round));
		b[len - 1 - at] = (byte)(round ^ seed);
		CHECK(a[len - 1 - at] == (byte)(round ^ seed));
	}
}

/* Side by side: what runs over the end is at the beginning again. */
static void ring(void)
{
	int fd = memory(PAGE);
	byte *p = map(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long word;

	map(p, PAGE, RW, MAP_SHARED, fd, 0);
	map(p + PAGE, PAGE, RW, MAP_SHARED, fd, 0);
	for (long i = 1; i < ROUNDS; i++) {
		memcpy(p + PAGE - 1 - i % 7, &i, sizeof(i));
		memcpy(&word, p + PAGE - 1 - i % 7, sizeof(word));
		CHECK(word == i && p[PAGE] == p[0] && p[7 - i % 7 - 1] == p[PAGE + 7 - i % 7 - 1]);
		CHECK(p[0] == (byte)(i >> 8 * (1 + i % 7)));
	}
	same(p, p + PAGE, PAGE, 1);
	close(fd);
}

/* Code is written through one mapping and run in another that is not writable. */
static void jit(void)
{
	static const byte code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov $0, %eax; ret */
	int fd = memory(PAGE);
	byte *w = map(NULL, PAGE, RW, MAP_SHARED, fd, 0);
	byte *x = map(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);

	memcpy(w, code, sizeof(code));
	for (int i = 0; i < ROUNDS; i++) {
		memcpy(w + 1, &i, sizeof(i));
		CHECK(((int (*)(void))x)() == i);
		if (i % 100 == 0)
			CHECK(getppid() > 0);
	}
	/* The kernel writes as well; what it has written is run. */
	int seven = 7;
	CHECK(pwrite(fd, &seven, sizeof(seven), 1) == sizeof(seven) && ((int (*)(void))x)() == 7);
	close(fd);
}

static void segment(void)
{
	int id = shmget(IPC_PRIVATE, 3 * PAGE, IPC_CREAT | 0600);
	byte *a = shmat(id, NULL, 0);

	CHECK(id >= 0 && a != (byte *)-1);
	memset(a, 's', 3 * PAGE);
	byte *b = shmat(id, NULL, 0), *c = shmat(id, NULL, SHM_RDONLY);
	CHECK(b != (byte *)-1 && c != (byte *)-1 && shmctl(id, IPC_RMID, NULL) == 0);
	CHECK(b[2 * PAGE] == 's' && c[PAGE] == 's');
	same(a, b, 3 * PAGE, 3);
	b[5] = 77;
	CHECK(c[5] == 77 && shmdt(a) == 0);
	b[5] = 78;
	CHECK(c[5] == 78 && shmdt(b) == 0 && c[5] == 78 && shmdt(c) == 0);
}

/* Mappings of other parts of a file that meet in its middle, cut and extended meanwhile. */
static void parts(void)
{
	char name[64];
	int fd = file(name, 4 * PAGE);
	byte *a = map(NULL, 3 * PAGE, RW, MAP_SHARED, fd, 0);

	a[PAGE + 5] = 'a';
	byte *b = map(NULL, 3 * PAGE, RW, MAP_SHARED, fd, PAGE);
	CHECK(b[5] == 'a' && b[2 * PAGE + 7] == 'f' && a[9] == 'f');
	same(a + PAGE, b, 2 * PAGE, 5);
	a[9] = 'x';
	b[2 * PAGE + 7] = 'y';
	CHECK(munmap(a, 2 * PAGE) == 0);
	b[3] = 'z';
	a = map(NULL, 3 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(a[9] == 'x' && a[PAGE + 3] == 'z' && b[2 * PAGE + 7] == 'y');
	same(a + PAGE, b, 2 * PAGE, 6);
	CHECK(ftruncate(fd, 2 * PAGE) == 0 && ftruncate(fd, 4 * PAGE) == 0);
	CHECK(b[PAGE] == 0 && a[2 * PAGE] == 0);
	same(a + PAGE, b, 2 * PAGE, 7);
	CHECK(pwrite(fd, "w", 1, PAGE + 20) == 1 && b[20] == 'w' && a[PAGE + 20] == 'w');
	/* moved, split and joined */
	byte *to = map(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mprotect(b + PAGE, PAGE, PROT_READ) == 0);
	CHECK(mremap(b, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + PAGE) == to + PAGE);
	same(a + PAGE, to + PAGE, PAGE, 8);
	a[2 * PAGE + 1] = 'q';
	CHECK(b[PAGE + 1] == 'q' && mprotect(b + PAGE, PAGE, RW) == 0);
	same(a + 2 * PAGE, b + PAGE, PAGE, 9);
	CHECK(unlink(name) == 0 && close(fd) == 0);
}

/* Only read at first: it becomes writable later. */
static void later(void)
{
	char name[64];
	int fd = file(name, PAGE);
	byte *a = map(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	byte *b = map(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(a[1] == 'f' && b[1] == 'f' && mprotect(b, PAGE, RW) == 0);
	b[1] = 'g';
	CHECK(a[1] == 'g' && mprotect(a, PAGE, RW) == 0);
	same(a, b, PAGE, 10);
	CHECK(unlink(name) == 0 && close(fd) == 0);
}

/* A mapping of what another one shows, made without its descriptor. */
static void again(void)
{
	byte *room = map(NULL, 6 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	byte *a = map(room, 3 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	byte *other = map(room + 3 * PAGE, 3 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	memset(a, 'n', 3 * PAGE);
	memset(other, 'o', PAGE);
	byte *b = mremap(a, 0, 3 * PAGE, MREMAP_MAYMOVE);
	CHECK(b != MAP_FAILED && b[2 * PAGE] == 'n');
	same(a, b, 3 * PAGE, 11);
	CHECK(other[0] == 'o' && munmap(other, 3 * PAGE) == 0);
	byte *c = mremap(b + PAGE, 0, PAGE, MREMAP_MAYMOVE);
	CHECK(c != MAP_FAILED);
	same(a + PAGE, c, PAGE, 12);
	c[1] = 'c';
	CHECK(munmap(a, 3 * PAGE) == 0 && b[PAGE + 1] == 'c' && munmap(b, 3 * PAGE) == 0);
	CHECK(c[1] == 'c');

	int fd = memory(2 * PAGE);
	a = map(NULL, PAGE, RW, MAP_SHARED, fd, 0);
	a[0] = 'm';
	b = mremap(a, 0, 2 * PAGE, MREMAP_MAYMOVE);
	CHECK(b != MAP_FAILED && b[0] == 'm' && b[PAGE] == 0);
	same(a, b, PAGE, 13);
	close(fd);
}

/* A private mapping shows what is stored through a shared one, up to its own first store to the page. */
static void private(void)
{
	char name[64];
	int fd = file(name, 3 * PAGE);
	volatile byte *p = map(NULL, 3 * PAGE, RW, MAP_PRIVATE, fd, 0);

	p[PAGE] = 'p';
	CHECK(p[0] == 'f' && p[PAGE + 1] == 'f');
	volatile byte *s = map(NULL, 3 * PAGE, RW, MAP_SHARED, fd, 0);
	for (int i = 0; i < ROUNDS; i++) {
		s[i] = s[PAGE + 1 + i] = (byte)i;
		CHECK(p[i] == (byte)i && p[PAGE + 1 + i] == 'f' && s[PAGE] == 'f');
		if (i % 100 == 0)
			CHECK(getppid() > 0);
	}
	CHECK(pwrite(fd, "w", 1, 7) == 1 && p[7] == 'w');
	s[8] = 'x';
	CHECK(p[8] == 'x');
	p[2 * PAGE] = 'y';
	s[2 * PAGE + 1] = 'z';
	CHECK(p[2 * PAGE] == 'y' && p[2 * PAGE + 1] == 'f' && s[2 * PAGE] == 'f');
	CHECK(madvise((byte *)p + PAGE, PAGE, MADV_DONTNEED) == 0);
	s[PAGE + 500] = 'q';
	CHECK(p[PAGE] == 'f' && p[PAGE + 500] == 'q');
	s[9] = 'r';
	byte *to = mremap((byte *)p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (byte *)p + 2 * PAGE);
	CHECK(to == p + 2 * PAGE && to[9] == 'r');
	s[9] = 't';
	CHECK(to[9] == 't');
	/* It outlives the shared one. */
	s[PAGE + 600] = 'u';
	CHECK(munmap((byte *)s, 3 * PAGE) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(getppid() > 0 && p[PAGE + 600] == 'u' && to[9] == 't');
	CHECK(unlink(name) == 0 && close(fd) == 0);
}

static int pipe_ends[2];

static void *reader(void *to)
{
	CHECK(read(pipe_ends[0], to, 8) == 8);
	return NULL;
}

/* The kernel stores through one mapping for a thread that sleeps, while another thread goes on. */
static void asleep(void)
{
	int fd = memory(PAGE);
	byte *a = map(NULL, PAGE, RW, MAP_SHARED, fd, 0), *b = map(NULL, PAGE, RW, MAP_SHARED, fd, 0);
	pthread_t thread;

	CHECK(pipe(pipe_ends) == 0);
	for (int i = 0; i < 5; i++) {
		CHECK(pthread_create(&thread, NULL, reader, a + 40) == 0);
		usleep(2000);
		CHECK(write(pipe_ends[1], "written!", 8) == 8);
		for (int k = 0; k < 20; k++)
			b[k] = (byte)getppid();
		CHECK(pthread_join(thread, NULL) == 0 && memcmp(b + 40, "written!", 8) == 0);
		memset(b, 0, PAGE);
	}
	close(fd);
}

int main(void)
{
	asleep();
	private();
	again();
	ring();
	jit();
	segment();
	parts();
	later();
	DONE();
}
