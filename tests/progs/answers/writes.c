/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes in several ways from known depths, to two descriptors; then works for a while, and has a child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void leaf(int i)
{
	char text[64];
	int n = sprintf(text, "piece %d%c of\tbytes \"%d\"\n", i, i % 3 ? 0 : 'x', i * i);

	write(1 + (i % 5 == 0), text, (size_t)n);
	memset(text, '!', sizeof(text));
}

static void branch(int depth, int i)
{
	if (depth)
		branch(depth - 1, i);
	else
		leaf(i);
}

static unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i % 7 == 3 ? i : 1;
	return sum;
}

int main(int argc, char **argv)
{
	struct iovec v[80];
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	for (int i = 0; i < 40; i++)
		branch(i % 4, i);
	for (unsigned i = 0; i < 80; i++)
		v[i] = (struct iovec){"vector ", 1 + i % 7};
	writev(1, v, 80);
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	printf("%u\n", work(n));
	return 0;
}
