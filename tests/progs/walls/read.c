/* Harmless: reads the file that it is given, then maps and unmaps. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* For int80.S. */
const char low_name[] __attribute__((section(".low"), used)) = "owned";

int main(int argc, char **argv)
{
	static char buf[256];
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	long n = read(fd, buf, sizeof buf);

	for (int i = 0; i < 3; i++) {
		void *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(p, 4096);
	}
	return n <= 0;
}
