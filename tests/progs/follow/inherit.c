/* A child and a grandchild go on in functions that were entered before their forks. */
#include "check.h"

static unsigned total;

static unsigned split(void)
{
	unsigned x = 0;

	for (int generation = 0; generation < 2; generation++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid) {
			int status;

			CHECK(waitpid(pid, &status, 0) == pid && status == 0);
			return x;
		}
		x += work(5);
		x += work(2000);
		total += x;
	}
	return x;
}

static unsigned nest(unsigned depth)
{
	unsigned got;

	for (unsigned i = 0; i < depth; i++)
		total += i;
	got = depth ? nest(depth - 1) : split();
	if (!got)
		return got;
	got += work(3);
	for (int i = 0; i < 2; i++)
		total += got;
	return got;
}

int main(void)
{
	unsigned each = work(5) + work(2000), r = nest(3);

	if (r == 0)
		DONE();
	r += work(4);
	CHECK(r == each + 4 * work(3) + work(4) || r == 2 * each + 4 * work(3) + work(4));
	_exit(0);
}
