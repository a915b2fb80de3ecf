/* Memory written by libc in one long stretch without markers, string instructions included. Calls go through
 * pointers so that the compiler does not replace them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char big[1 << 20], src[1 << 20];
char *(*volatile copy)(char *, const char *) = strcpy;
void *(*volatile set)(void *, int, size_t) = memset;
void *(*volatile move)(void *, const void *, size_t) = memcpy;

int main(void)
{
	char b[64];

	for (int i = 0; i < 3; i++) {
		set(src, i + 1, sizeof src);
		src[sizeof src - 1] = 0;
		copy(big, src);
		set(big, 'z' + i, 700000);
	}
	for (int i = 0; i < 10; i++) {
		snprintf(b, sizeof b, "%d %s %g", i, "abc", i * 1.5);
		move(big + 500000, b, 20);
	}
	printf("%zu\n", strlen(big));
	return 0;
}
