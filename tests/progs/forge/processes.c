/* A child that shares memory with its parent and becomes this program again. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(volatile int *at)
{
	int sum = 0;

	for (int i = 0; i < 200; i++)
		sum += at[i % 8] = i;
	return sum;
}

int main(int argc, char **argv)
{
	int status = 0, ends[2];
	char name[8] = "";

	if (argc > 1)
		return work((int[8]){ 0 }) == 0;
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || pipe(ends) < 0)
		return 1;
	if (fork() == 0) {
		work(shared);
		if (write(ends[1], "child", 5) == 5)
			execl("/proc/self/exe", argv[0], "again", NULL);
		_exit(1);
	}
	if (read(ends[0], name, 5) != 5)
		return 1;
	wait(&status);
	printf("%s %d %d\n", name, shared[3], status);
	return 0;
}
