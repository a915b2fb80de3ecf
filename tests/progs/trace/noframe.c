/* Signals whose frame does not fit on the stack, for which the kernel forces SIGSEGV. Argument: coroutine (a timer's, while a
 * coroutine with a small stack computes), nested (a handler that is interrupted by its own signal until the stack is full;
 * SIGSEGV's handler has another stack and goes back), altstack (one that cannot be written), blocked (nested, SIGSEGV is
 * blocked), overflow (by recursion, and SIGSEGV's handler has no other stack). */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile long depth, n;
static sigjmp_buf back;
static ucontext_t from, to;

static void nested(int signo)
{
	depth++;
	kill(getpid(), signo);
}

static void tick(int signo)
{
	depth += signo;
}

static void compute(void)
{
	for (;;)
		n = n * 3 + 1;
}

static void segv(int signo)
{
	siglongjmp(back, signo);
}

static void handle(int signo, void (*handler)(int), int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};

	sigaction(signo, &act, NULL);
}

__attribute__((noinline)) static long recurse(volatile long i)
{
	volatile char frame[200];

	frame[i % 200] = (char)i;
	return recurse(i + 1) + frame[3];
}

static void *guarded(size_t len)
{
	char *p =
	    mmap(NULL, 4096 + len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p, 4096, PROT_NONE);
	return p + 4096;
}

static void coroutine(void)
{
	/* Not once only: the first may come before the coroutine runs. */
	struct itimerval timer = {.it_interval.tv_usec = 2000, .it_value.tv_usec = 2000};

	handle(SIGALRM, tick, 0);
	getcontext(&to);
	to.uc_stack.ss_sp = guarded(4096);
	to.uc_stack.ss_size = 1024;
	makecontext(&to, compute, 0);
	setitimer(ITIMER_REAL, &timer, NULL);
	swapcontext(&from, &to);
}

/* The stack is full after some hundred of them; what follows overwrites the torn frame, or not. */
static void fill_stack(void)
{
	static char other[1 << 16];
	stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};
	struct rlimit limit = {1 << 20, 1 << 20};

	setrlimit(RLIMIT_STACK, &limit);
	sigaltstack(&stack, NULL);
	handle(SIGUSR1, nested, SA_NODEFER);
	handle(SIGSEGV, segv, SA_ONSTACK);
	for (volatile int i = 0; i < 3; i++) {
		depth = 0;
		if (sigsetjmp(back, 1) == 0)
			raise(SIGUSR1);
		printf("%s\n", depth > 50 ? "full" : "early");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	if (strcmp(how, "coroutine") == 0)
		coroutine();
	if (strcmp(how, "blocked") == 0)
		sigprocmask(SIG_BLOCK, &set, NULL);
	if (strcmp(how, "nested") == 0 || strcmp(how, "blocked") == 0)
		fill_stack();
	if (strcmp(how, "overflow") == 0) {
		handle(SIGSEGV, segv, 0);
		return (int)recurse(0);
	}
	if (strcmp(how, "altstack") == 0) {
		stack_t stack = {.ss_sp = guarded(4096), .ss_size = 65536};
		munmap(stack.ss_sp, 4096);
		sigaltstack(&stack, NULL);
		handle(SIGUSR1, tick, SA_ONSTACK);
		raise(SIGUSR1);
	}
	return 7;
}
