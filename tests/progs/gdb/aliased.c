/* A counter at three addresses: stored to through two of them, read through the third, which is not writable. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int *one, *two;
static const volatile int *seen;

static void add(int n)
{
	for (int i = 1; i <= n; i++) {
		*one += 1;
		*two += 100; /* by two */
	}
}

static void done(void)
{
}

int main(void)
{
	int fd = memfd_create("aliased", 0);

	if (ftruncate(fd, 4096) < 0)
		return 1;
	one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	two = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	seen = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	add(5);
	getppid();
	add(50);
	done();
	printf("%d\n", *seen);
	return 0;
}
