/* A child and a grandchild go on in functions that were entered before their forks. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int total;

static int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 7 == 3 ? i : 1;
	return sum;
}

static int split(void)
{
	int x = 0;

	for (int generation = 0; generation < 2; generation++) {
		pid_t pid = fork();

		if (pid) {
			waitpid(pid, NULL, 0);
			return generation ? x : -1;
		}
		x += work(5);
		x += work(2000);
		total += x;
	}
	return x;
}

static int nest(int depth)
{
	int got;

	for (int i = 0; i < depth; i++)
		total += i;
	got = depth ? nest(depth - 1) : split();
	if (got < 0)
		return got;
	got += work(3);
	for (int i = 0; i < 2; i++)
		total += got;
	return got;
}

int main(void)
{
	int r = nest(3);

	if (r >= 0) {
		r += work(4);
		printf("%d %d\n", r, total);
		fflush(stdout);
		_exit(0);
	}
	puts("parent");
	return 0;
}
