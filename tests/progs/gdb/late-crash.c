/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crashes in a loop, when it has come to the same instruction that many times and once more. */
#include <stdlib.h>
#include <sys/mman.h>

static unsigned sum;

static void fill(unsigned *to)
{
	for (unsigned i = 0;; i++) {
		to[i] = i;
		sum += 3;
	}
}

int main(int argc, char **argv)
{
	size_t size = sizeof(unsigned) * (size_t)atol(argv[argc - 1]);
	char *all = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	                 0);

	mprotect(all + size, 4096, PROT_NONE);
	fill((unsigned *)all);
	return 0;
}
