/* Maps its own program file shared, for reading: to execute at once, and later. What is there is read and run. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __executable_start[];

static int __attribute__((noinline)) twice(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += 2;
	return sum;
}

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	size_t len = lseek(fd, 0, SEEK_END), at = (char *)twice - __executable_start;
	char *now = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	char *later = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);

	if (now == MAP_FAILED || later == MAP_FAILED)
		return 1;
	close(fd);
	printf("%.3s %.3s\n", now + 1, later + 1);
	if (mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, open("/proc/self/exe", O_RDONLY), 0) == MAP_FAILED)
		perror("to write");
	if (mprotect(later, len, PROT_READ | PROT_WRITE) < 0)
		perror("to write later");
	if (mprotect(later, len, PROT_READ | PROT_EXEC) < 0)
		return 1;
	printf("%d %d\n", ((int (*)(int))(now + at))(100000), ((int (*)(int))(later + at))(100000));
	return 0;
}
