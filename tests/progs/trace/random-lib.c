/* A library that draws random numbers, and a program that loads it twice, uses its place otherwise, and draws in a child, too. */
#ifdef LIBRARY
#include <immintrin.h>

__attribute__((target("rdrnd"))) unsigned long long lib_draw(void)
{
	unsigned long long v = 0;

	while (!_rdrand64_step(&v))
		;
	return v;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned long long drawn[2];
static unsigned char *page; /* where the library's code has been */

static void draw(const char *library, int i)
{
	void *h = dlopen(library, RTLD_NOW);
	unsigned long long (*f)(void) = h ? (unsigned long long (*)(void))dlsym(h, "lib_draw") : 0;

	drawn[i] = f ? f() : 0;
	if (i == 0) {
		dlclose(h);
		page = mmap((void *)((uintptr_t)f & -4096), 4096, PROT_READ | PROT_WRITE,
		            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	}
}

static int untouched(void)
{
	int sum = page == MAP_FAILED;

	for (int i = 0; i < 4096; i++)
		sum += page[i];
	return sum == 0;
}

static void done(const char *who)
{
	printf("%s %llx %llx\n", who, drawn[0], drawn[1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int status;

	draw(argv[1], 0);
	draw(argv[1], 1);
	done("parent");
	if (fork() == 0) {
		draw(argv[1], 1);
		done("child");
		_exit(drawn[0] != drawn[1] && untouched() ? 7 : 8);
	}
	wait(&status);
	return WEXITSTATUS(status) != 7;
}
#endif
