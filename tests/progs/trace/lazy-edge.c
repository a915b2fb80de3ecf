/* Functions that the dynamic linker looks up while the stack is about to end: what it does there faults, or it comes
 * through. Before that, enough calls are made that some of them have no stop. */
#define _GNU_SOURCE
#include "lazy-edge.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define EDGE(n) int edge_##n(int);
EDGE_ALL
#undef EDGE

enum { PAGE = 4096, ROOM = 16 * PAGE, LEAST = 512, STEP = 128 };

static ucontext_t outside, inside;
static char *stack;
static int number, result, faults, sum;
static sigjmp_buf back;

static void fault(int sig)
{
	faults++;
	siglongjmp(back, 1);
}

static void one(void)
{
	switch (number) {
#define EDGE(n)                                                                                                                \
	case n: result = edge_##n(number); break;
		EDGE_ALL
#undef EDGE
	}
}

/* With so many bytes of stack. */
static void with(int bytes)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack + PAGE;
	inside.uc_stack.ss_size = (size_t)bytes;
	inside.uc_link = &outside;
	makecontext(&inside, one, 0);
	result = -1;
	if (sigsetjmp(back, 1) == 0)
		swapcontext(&outside, &inside);
	printf("%d: %s\n", bytes, result < 0 ? "fault" : "called");
	sum += result;
}

int main(void)
{
	static char alternate[64 << 10];
	stack_t own = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction act = {.sa_handler = fault, .sa_flags = SA_ONSTACK};

	stack = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE) != 0)
		return 1;
	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &act, NULL);
	for (int i = 0; i < 100; i++)
		sum += getppid() < 0;
	for (number = 10; number < 60; number++)
		with(LEAST + (number - 10) * STEP);
	printf("%d faults, sum %d\n", faults, sum);
	return 0;
}
