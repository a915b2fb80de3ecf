/* The address space comes and goes: every kind of mapping change, contents checked all along. */
#include "selfcheck.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, N = 64 };

static unsigned sum(const unsigned char *p, size_t n)
{
	unsigned s = 0;

	for (size_t i = 0; i < n; i += 61)
		s = s * 31 + p[i];
	return s;
}

static void fill(unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)((seed += seed * 5 + 1) >> 3);
}

static unsigned char *anon(size_t n)
{
	unsigned char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static sigjmp_buf back;

static void on_segv(int sig)
{
	siglongjmp(back, sig);
}

/* Is nothing mapped there? */
static int faults(volatile unsigned char *p)
{
	if (sigsetjmp(back, 1))
		return 1;
	return *p == 256;
}

/* The kernel lets the stack grow where it writes itself: here far below all that the program has used. */
static void read_below_the_stack(void)
{
	char *below = (char *)__builtin_frame_address(0) - (400 << 10);
	int fds[2];

	CHECK(pipe(fds) == 0 && write(fds[1], "far below", 10) == 10);
	CHECK(read(fds[0], below, 10) == 10 && !strcmp(below, "far below"));
	close(fds[0]);
	close(fds[1]);
}

static void file_mapping(void)
{
	char name[] = "/tmp/lizard-maps-XXXXXX";
	unsigned char block[3 * PAGE];
	int fd = mkstemp(name);

	CHECK(fd >= 0);
	unlink(name);
	fill(block, sizeof block, 77);
	CHECK(write(fd, block, sizeof block) == sizeof block);
	unsigned char *p = mmap(NULL, sizeof block, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(p != MAP_FAILED && !memcmp(p, block, sizeof block));
	p[5] ^= 1;
	CHECK(pwrite(fd, "changed", 7, 2 * PAGE) == 7);
	CHECK(!memcmp(p + 2 * PAGE, "changed", 7) && p[5] == (block[5] ^ 1));
	CHECK(madvise(p, PAGE, MADV_DONTNEED) == 0 && p[5] == block[5]);
	munmap(p + PAGE, PAGE);
	CHECK(p[0] == block[0] && !memcmp(p + 2 * PAGE, "changed", 7));
	munmap(p, sizeof block);
	close(fd);
}

static void shared_mapping(void)
{
	char name[] = "/tmp/lizard-maps-XXXXXX";
	int fd = mkstemp(name);
	char back[6];

	CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
	unlink(name);
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	strcpy(p, "hello");
	CHECK(pread(fd, back, 6, 0) == 6 && !strcmp(back, "hello"));
	CHECK(pwrite(fd, "world", 6, 100) == 6 && !strcmp(p + 100, "world"));
	munmap(p, PAGE);
	close(fd);
}

int main(void)
{
	unsigned char *a[N], *p;
	unsigned s[N];

	signal(SIGSEGV, on_segv);
	read_below_the_stack();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			size_t n = (size_t)(i % 7 + 1) * PAGE;
			fill(a[i] = anon(n), n, (unsigned)(i + round));
			s[i] = sum(a[i], n);
		}
		for (int i = 0; i < N; i += 2) {
			size_t n = (size_t)(i % 7 + 1) * PAGE;
			p = mremap(a[i], n, n + 5 * PAGE, MREMAP_MAYMOVE);
			CHECK(p != MAP_FAILED && sum(p, n) == s[i] && p[n] == 0);
			munmap(p, n + 5 * PAGE);
		}
		for (int i = 1; i < N; i += 2) {
			size_t n = (size_t)(i % 7 + 1) * PAGE;
			CHECK(mprotect(a[i], PAGE, PROT_READ) == 0 && sum(a[i], n) == s[i]);
			CHECK(mmap(a[i], PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == a[i]);
			CHECK(a[i][0] == 0);
			munmap(a[i], n);
		}
	}
	unsigned char *brk0 = sbrk(0);
	CHECK(sbrk(10 * PAGE) == brk0);
	fill(brk0, 10 * PAGE, 3);
	unsigned b = sum(brk0, 5 * PAGE);
	CHECK(sbrk(-5 * PAGE) != (void *)-1 && sum(brk0, 5 * PAGE) == b);
	CHECK(faults(brk0 + 6 * PAGE) && !faults(brk0 + 4 * PAGE));
	CHECK(sbrk(5 * PAGE) != (void *)-1 && brk0[6 * PAGE] == 0);
	p = anon(256 * PAGE);
	fill(p, 256 * PAGE, 9);
	CHECK(mremap(p, 256 * PAGE, 16 * PAGE, 0) == p);
	CHECK(faults(p + 16 * PAGE));
	munmap(p, 16 * PAGE);
	CHECK(faults(p));
	file_mapping();
	shared_mapping();
	volatile char big[2 << 20];
	big[0] = 1;
	big[sizeof big - 1] = 2;
	CHECK(big[0] + big[sizeof big - 1] == 3);
	DONE();
}
