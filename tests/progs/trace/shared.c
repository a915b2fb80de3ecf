/* Children write into memory and files that are shared with the recorded parent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char name[] = "/tmp/lizard-shared-XXXXXX";
	int fd = mkstemp(name), filled = 0;
	volatile int *anon =
	    mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	unlink(name);
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 1;
	volatile int *file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < 5; i++) {
		if (fork() == 0) {
			anon[i] = getpid();
			anon[1500] += i + 1;
			file[i] = 2 * getpid();
			_exit(0);
		}
		wait(NULL);
		anon[20]++;
		filled += anon[i] != 0 && file[i] == 2 * anon[i];
	}
	printf("%d %d %d\n", filled, anon[1500], anon[20]);
	return 0;
}
