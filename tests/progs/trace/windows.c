/* windows FILE COUNT PAGES p|s [look]: maps COUNT parts of FILE, of so many pages each, here and there. Without look one is stored
 * to and grows (mremap), and the file is written, cut and extended. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static unsigned sum(const unsigned char *p, size_t len)
{
	unsigned s = 0;

	for (size_t i = 0; i < len; i += 61)
		s = s * 31 + p[i];
	return s;
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR), n = atoi(argv[2]), shared = argv[4][0] == 's';
	size_t size = lseek(fd, 0, SEEK_END), len = atoi(argv[3]) * PAGE;
	unsigned char *p = NULL;
	unsigned s = 0;

	for (int i = 0; i < n; i++) {
		off_t at = (off_t)((i * 2654435761u) % (size / 2 / PAGE)) * PAGE;

		if (i % 2 && p)
			munmap(p, len);
		p = mmap(NULL, len, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, fd, at);
		if (p == MAP_FAILED)
			return 1;
		s = s * 31 + sum(p, len);
	}
	printf("%x\n", s);
	if (argc > 5)
		return 0;
	p[5] = 5;
	if (pwrite(fd, "written", 7, 0) != 7)
		return 1;
	p = mremap(p, len, size / 2, MREMAP_MAYMOVE);
	printf("%x\n", sum(p, size / 4));
	unsigned char *first = mmap(NULL, 3 * PAGE, PROT_READ, shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
	printf("%.7s\n", first);
	if (ftruncate(fd, PAGE) < 0 || ftruncate(fd, size) < 0)
		return 1;
	printf("%.7s %d %x\n", first, first[PAGE], sum(p, size / 4));
	return 0;
}
