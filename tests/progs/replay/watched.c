/* Memory that changes in many ways: by stores, string instructions, library calls and system calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
	struct node *next;
	long v;
};

long total, hits;
char fill[4096], packed[32];
volatile long level = 3; /* only read */
struct {
	char c;
	long v;
} __attribute__((packed)) unaligned;

static void bump(int i)
{
	total += i;
	if (i % 7 == 0)
		hits++;
	if (i % 50 == 3)
		unaligned.v = i;
}

static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	int fd[2];
	struct node *list = NULL;
	long sum = 0;

	for (int i = 0; i < 300; i++) {
		bump(i);
		if (i % 50 == 0)
			memset(fill, i / 50 + 1, sizeof fill);
	}
	if (pipe(fd) < 0)
		return 1;
	for (int i = 0; i < 5; i++) {
		char c[16];
		memset(c, 'a' + i, sizeof c);
		if (write(fd[1], c, sizeof c) < 0 || read(fd[0], packed + 3, sizeof c) < 0)
			return 1;
	}
	for (int i = 0; i < 100; i++) {
		struct node *n = malloc(sizeof *n);
		n->next = list;
		n->v = fib(i % 12) + level;
		if (i % 10 == 0)
			getppid();
		list = n;
	}
	while (list) {
		struct node *n = list->next;
		sum += list->v;
		free(list);
		list = n;
	}
	printf("%ld %ld %ld %s %ld\n", total, hits, sum, packed + 3, unaligned.v);
	return 0;
}
