/* A library that draws random numbers, and a program that loads it twice and draws in a child, too. */
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
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned long long drawn[2];

static void draw(const char *library, int i)
{
	void *h = dlopen(library, RTLD_NOW);
	unsigned long long (*f)(void) = h ? (unsigned long long (*)(void))dlsym(h, "lib_draw") : 0;

	drawn[i] = f ? f() : 0;
	if (i == 0)
		dlclose(h);
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
		_exit(drawn[0] != drawn[1] ? 7 : 8);
	}
	wait(&status);
	return WEXITSTATUS(status) != 7;
}
#endif
