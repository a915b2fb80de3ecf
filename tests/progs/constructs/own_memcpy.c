/* a program's own memcpy, strlen and qsort-like helper under the libc names
 * watch: copies
 */
#include <stddef.h>
#include "check.h"

static int copies;

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *t = to;
	const char *f = from;

	copies++;
	while (n--) {
		__asm__ volatile("");
		*t++ = *f++;
	}
	return to;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n]) {
		__asm__ volatile("");
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	char buf[64] = "";
	volatile size_t n = 12;

	for (int i = 0; i < 10; i++)
		memcpy(buf + i, "hello, world", n);
	buf[40] = 0;
	printf("%s %zu\n", buf, strlen(buf));
	CHECK(strlen(buf) == 21 && copies >= 10 && argc == 1 && strlen(argv[0]) > 0);
	DONE("own_memcpy");
}
