/* Maps a file again and again, as a program that reads many does. Ends with how often it had the right contents. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int right = 0;

	for (int i = 0; i < 100; i++) {
		int fd = open(argv[1], O_RDONLY);
		char *p = mmap(NULL, 5, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
		right += p != MAP_FAILED && p[0] == 'm';
		munmap(p, 5);
	}
	printf("%d\n", right);
	return argc != 2;
}
