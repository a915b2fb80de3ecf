/* Overflows the stack twice; the handler on an alternate stack jumps out. */
#include "selfcheck.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>

static sigjmp_buf back;
static char alt[64 * 1024];

static void on_segv(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static int __attribute__((noinline)) deep(volatile int n)
{
	volatile char room[1000];

	room[n % 1000] = (char)n;
	return deep(n + 1) + room[n % 1000];
}

int main(void)
{
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof alt };
	struct sigaction sa = { .sa_handler = on_segv, .sa_flags = SA_ONSTACK };
	struct rlimit small = { 1 << 20, 1 << 20 };
	volatile int overflows = 0;

	setrlimit(RLIMIT_STACK, &small);
	sigaltstack(&ss, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	if (sigsetjmp(back, 1))
		overflows++;
	if (overflows < 2)
		return deep(0);
	CHECK(overflows == 2);
	DONE();
}
