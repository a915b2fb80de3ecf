/* touched_library LIBRARY: whose calls are made before and after another process has had its file open for writing. Its name is
 * that of a child that opens it. With -shared it is that library. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 300 };

/* As in a C library: the instruction may become a jump. */
long library_parent(void)
{
	long ret;

	__asm__ volatile("movl $110, %%eax\n\tsyscall\n\tmovq %%rax, %%rdx\n\tnop\n\tnop"
	                 : "=a"(ret)
	                 :
	                 : "rcx", "r11", "rdx", "memory");
	return ret;
}

static int touch(const char *path)
{
	const int fd = open(path, O_RDWR);

	return fd < 0 || close(fd);
}

static int right_answers(long (*parent)(void))
{
	const long right = getppid();
	int n = 0;

	for (int i = 0; i < ROUNDS; i++)
		n += parent() == right;
	return n;
}

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	long (*parent)(void) = library ? (long (*)(void))dlsym(library, "library_parent") : NULL;
	int status;

	if (!parent)
		return 1;
	const int before = right_answers(parent);
	if (!fork())
		_exit(touch(argv[1]));
	wait(&status);
	printf("%d %d %d\n", before, right_answers(parent), status);
	return 0;
}
