/* A library comes and goes, with work in between that writes a megabyte of markers; malloc() is the program's own, so that
 * markers lie between the loader's system calls as well. LIBRARY is a file name. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static char heap[1 << 22];
static size_t used;
volatile unsigned long sum;

void *malloc(size_t n)
{
	size_t at = used;

	used += (n + 31) & ~(size_t)15;
	for (size_t i = 0; i < n % 64; i++)
		sum += i & 1 ? i : 1;
	return used <= sizeof heap ? heap + at : NULL;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size); /* never freed, so still zero */
}

void free(void *p)
{
	(void)p;
}

void *realloc(void *p, size_t n)
{
	char *to = malloc(n), *from = p;

	for (size_t i = 0; from && to && i < n && from + i < heap + sizeof heap; i++)
		to[i] = from[i];
	return to;
}

static void work(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i % 3 ? i : sum % 7;
}

int main(void)
{
	for (int i = 0; i < 4; i++) {
		work(400000);
		void *lib = dlopen(LIBRARY, RTLD_NOW);

		if (!lib)
			return 1;
		work(300000);
		dlclose(lib);
	}
	work(500000);
	return 0;
}
