/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory from /dev/zero, as programs had it before there was MAP_ANONYMOUS: much of it, of which little is used. Ends with
 * what it has seen there. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static const size_t MUCH = (size_t)2 << 30;

static unsigned use(char *p)
{
	unsigned sum = 0;

	for (size_t at = 0; at < MUCH; at += MUCH / 8) {
		strcpy(p + at + 5, "stored");
		sum = sum * 31 + (unsigned char)p[at + 5] + (unsigned char)p[at + PAGE];
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned sum = 0;

	for (int i = 0; i < 4; i++) {
		int fd = open("/dev/zero", O_RDWR);
		int flags = i % 2 ? MAP_SHARED : MAP_PRIVATE;
		char *p = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
		close(fd);
		if (p == MAP_FAILED)
			return 1;
		sum = sum * 31 + use(p);
		/* shared memory keeps what it has, and a child's stores are seen */
		madvise(p, PAGE, MADV_DONTNEED);
		if (fork() == 0)
			_exit(p[PAGE + 1] = 7);
		wait(NULL);
		sum = sum * 31 + (unsigned char)p[5] + (unsigned char)p[PAGE + 1];
		munmap(p, MUCH);
	}
	printf("%u\n", sum);
	return argc != 1;
}
