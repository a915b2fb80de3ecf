/* A file that is mapped shared and that a child inherits: read only; or so that the child can make it writable. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static unsigned sum;

static void look(const volatile unsigned char *mem, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		sum = sum * 31 + mem[i];
}

/* The child has another program at once. */
static void read_only(const char *path, size_t size)
{
	const unsigned char *mem = mmap(NULL, size, PROT_READ, MAP_SHARED, open(path, O_RDONLY), 0);
	char *args[] = {"true", NULL};
	pid_t child;

	look(mem, size);
	if (posix_spawnp(&child, "true", NULL, NULL, args, environ) || waitpid(child, NULL, 0) < 0)
		exit(2);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	look(mem, size);
}

/* BEFORE and AFTER: the program's own access, when the child is born and from then on. */
static void stored_by_child(const char *path, size_t size, int before, int after)
{
	unsigned char *mem = mmap(NULL, size, before, MAP_SHARED, open(path, O_RDWR), 0);
	int there[2], back[2];
	char c = 0;

	look(mem, size);
	if (pipe(there) < 0 || pipe(back) < 0)
		exit(2);
	if (fork() == 0) {
		mprotect(mem, size, PROT_READ | PROT_WRITE);
		while (read(there[0], &c, 1) == 1 && c < 5) {
			mem[4096] = (unsigned char)(c + 100);
			if (write(back[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	mprotect(mem, size, after);
	for (char i = 0; i < 6; i++)
		if (write(there[1], &i, 1) != 1 ||
		    (i < 5 && (read(back[0], &c, 1) != 1 || mem[4096] != i + 100)))
			exit(3);
	wait(NULL);
	look(mem, size);
}

int main(int argc, char **argv)
{
	size_t size = (size_t)atol(argv[3]);

	if (strcmp(argv[1], "read-only") == 0)
		read_only(argv[2], size);
	else if (strcmp(argv[1], "made-writable") == 0)
		stored_by_child(argv[2], size, PROT_READ, PROT_READ);
	else
		stored_by_child(argv[2], size, PROT_READ | PROT_WRITE, PROT_READ);
	printf("%s: all is well, %x\n", argv[1], sum);
	return 0;
}
