/* Maps one small file after the other, privately, and reads it; another one, empty when it is mapped, grows and becomes empty
 * again, round after round: manyfiles FOLDER ROUNDS */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned sum;
static sigjmp_buf back;

static void on_bus(int sig)
{
	siglongjmp(back, sig);
}

static unsigned digest(const unsigned char *p, int n)
{
	unsigned h = 1;

	for (int k = 0; k < 40; k++)
		for (int i = 0; i < n; i++)
			h = h * 31 + p[i] + (h >> 7 & 1 ? 3 : 5);
	return h;
}

static void look_at(int number)
{
	char name[32], text[64];
	int fd, n;

	snprintf(name, sizeof(name), "file%d", number);
	n = snprintf(text, sizeof(text), "this is file %d of many", number);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, text, n) != n)
		exit(1);
	unsigned char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED || close(fd))
		exit(1);
	sum += digest(p, n);
	if (munmap(p, 4096) || unlink(name))
		exit(1);
}

/* Behind its end nothing can be read. */
static void shrink_and_grow(int fd, volatile char *p, int fill)
{
	if (ftruncate(fd, 0))
		exit(1);
	if (!sigsetjmp(back, 1)) {
		sum += (unsigned char)p[10];
		exit(1);
	}
	if (ftruncate(fd, 5000))
		exit(1);
	memset((char *)p + 1000, fill, 4000);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 100, grows;

	if (argc < 2 || chdir(argv[1]) ||
	    (grows = open("grows", O_RDWR | O_CREAT | O_EXCL, 0600)) < 0)
		return 1;
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, grows, 0);
	signal(SIGBUS, on_bus);
	for (int i = 0; i < rounds; i++) {
		if (i % 100 == 0)
			shrink_and_grow(grows, p, i / 100);
		look_at(i);
		sum += (unsigned char)p[1000 + i % 4000];
	}
	printf("%d files: %u\n", rounds, sum);
	return unlink("grows");
}
