/* Memory that is mapped more than once, moved, grown, emptied, protected: each kind of mapping operation. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

static char *map(int flags, int fd, int pages, off_t at)
{
	char *p = mmap(NULL, (size_t)pages * PAGE, RW, flags, fd, at);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

static int sum(const char *p, int n)
{
	int s = 0;

	for (int i = 0; i < n; i += 64)
		s += p[i];
	return s;
}

int main(void)
{
	int fd = memfd_create("forge", 0), s = 0;

	if (ftruncate(fd, 4 * PAGE) < 0)
		return 1;
	char *one = map(MAP_SHARED, fd, 4, 0), *two = map(MAP_SHARED, fd, 2, PAGE);
	char *own = map(MAP_PRIVATE, fd, 4, 0), *all = map(MAP_SHARED | MAP_ANONYMOUS, -1, 2, 0);
	for (int i = 0; i < 3; i++) {
		char *p = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 4, 0), *q = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 8, 0);
		memset(p, i + 1, 4 * PAGE);
		memset(one + PAGE, i + 2, PAGE);
		own[i * PAGE] = (char)(i + 3);
		memset(all, i, PAGE);
		if (mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q + PAGE) != q + PAGE)
			return 1;
		p = mremap(q + PAGE, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
		if (p == MAP_FAILED || madvise(p, PAGE, MADV_DONTNEED) < 0 || mprotect(p, PAGE, PROT_READ) < 0)
			return 1;
		s += sum(p, 6 * PAGE) + sum(two, PAGE) + sum(own, 4 * PAGE) + sum(all, PAGE);
		if (pread(fd, q, 64, PAGE) < 0)
			return 1;
		munmap(p, 6 * PAGE);
		munmap(q, PAGE);
	}
	printf("%d\n", s);
	return 0;
}
