/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that writes code, in each way in which compilers at run time do, and reads its own. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int function(int);

/* Where code is written and where it is called: the same memory, writable at all times or only
 * for writing, or mapped twice. */
static unsigned char *open_code, *shut_code, *twice_written, *twice_called;
static int results[3][4];
static volatile int turn, unused;
unsigned sums[4];

static int work(int n)
{
	return n * 3 + 1;
}

static void made(void)
{
	unused++;
}

static void done(void)
{
	unused++;
}

static void *map(int prot, int flags, int fd)
{
	return mmap(NULL, 4096, prot, flags, fd, 0);
}

static void map_all(void)
{
	int fd = memfd_create("code", 0);

	open_code = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	shut_code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (ftruncate(fd, 4096))
		return;
	twice_written = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	twice_called = map(PROT_READ | PROT_EXEC, MAP_SHARED, fd);
}

/* lea K(%rdi),%eax; ret */
static void write_code(unsigned char *to, int k)
{
	unsigned char code[] = {0x8d, 0x87, 0, 0, 0, 0, 0xc3};

	memcpy(code + 2, &k, 4);
	memcpy(to, code, sizeof code);
}

static void write_all(int k)
{
	write_code(open_code, k);
	mprotect(shut_code, 4096, PROT_READ | PROT_WRITE);
	write_code(shut_code, k);
	mprotect(shut_code, 4096, PROT_READ | PROT_EXEC);
	write_code(twice_written, k);
}

static unsigned checksum(const void *code, int len)
{
	const unsigned char *p = code;
	unsigned sum = 0;

	for (int i = 0; i < len; i++)
		sum = sum * 31 + p[i];
	return sum;
}

int main(void)
{
	map_all();
	made();
	for (turn = 0; turn < 4; turn++) {
		write_all(turn * 100);
		results[0][turn] = ((function *)open_code)(turn);
		results[1][turn] = ((function *)shut_code)(turn);
		results[2][turn] = ((function *)twice_called)(turn);
		sums[turn] = checksum((void *)work, 15) + checksum(open_code, 7) +
		             checksum(shut_code, 7) + checksum(twice_called, 7);
		/* what it reads decides what it does */
		if (sums[turn] & 1)
			work(turn);
		else
			made();
	}
	done();
	for (int i = 0; i < 4; i++)
		printf("%d %d %d %u\n", results[0][i], results[1][i], results[2][i], sums[i]);
	return 0;
}
