/* Reads pieces of a file of its own, of up to 256 KiB, writes them to another one, and prints a sum of them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 600, MOST = 256 << 10, FILE_LEN = 1 << 20 };
static unsigned char bytes[FILE_LEN];

static uint64_t sum(uint64_t before, const unsigned char *p, long n)
{
	for (long i = 0; i < n; i += 61)
		before = before * 31 + p[i];
	return before;
}

int main(void)
{
	const int from = open(".", O_TMPFILE | O_RDWR, 0600), to = open("/dev/null", O_WRONLY);
	uint64_t all = 0;

	for (int i = 0; i < FILE_LEN; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 4096);
	if (write(from, bytes, FILE_LEN) != FILE_LEN)
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		const long want = i % 5 == 0 ? MOST : i % 5 == 1 ? 200000 : 1000 + i * 331 % 130000;
		const long got = pread(from, bytes, (size_t)want, i * 7919 % FILE_LEN);

		all = sum(all, bytes, got);
		bytes[i % 1000] ^= (unsigned char)i;
		if (write(to, bytes, (size_t)got) != got)
			return 1;
	}
	printf("%016llx\n", (unsigned long long)all);
	return 0;
}
