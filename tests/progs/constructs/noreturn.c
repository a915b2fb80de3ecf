/* noreturn: exit out of nested calls through a noreturn function, and _exit in an atexit handler
 * watch: depth
 */
#include <unistd.h>
#include "check.h"

static int depth;

static void last(void)
{
	printf("depth %d\ndone noreturn\n", depth);
	fflush(stdout);
	_exit(depth == 10 ? 0 : 1);
}

__attribute__((noreturn, noinline)) static void leave(int code)
{
	if (code > 5)
		exit(code);
	abort();
}

static int down(int n)
{
	depth++;
	if (n == 0)
		leave(9);
	return down(n - 1) + 1;
}

int main(void)
{
	atexit(last);
	return down(9);
}
