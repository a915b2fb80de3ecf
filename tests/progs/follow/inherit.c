/* A child and a grandchild go on in functions that were entered before their forks, and longjmp() to an outer one of
 * them. */
#include "check.h"
#include <setjmp.h>

static unsigned total, saved;
static jmp_buf outermost;

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
	if (depth == 4 && setjmp(outermost))
		got = saved;
	else
		got = depth ? nest(depth - 1) : split();
	if (!got)
		return got;
	got += work(3);
	for (int i = 0; i < 2; i++)
		total += got;
	if (depth == 2) {
		saved = got;
		longjmp(outermost, 1);
	}
	return got;
}

int main(void)
{
	unsigned each = work(5) + work(2000), r = nest(4);

	if (r == 0)
		DONE();
	r += work(4);
	CHECK(r == each + 4 * work(3) + work(4) || r == 2 * each + 4 * work(3) + work(4));
	_exit(0);
}
