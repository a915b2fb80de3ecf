/* steps [fatal]: sets the processor's trap flag, and counts its own steps; fatal: without a handler for them. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static volatile int steps, others, sum;

static void on_trap(int signo, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	others += info->si_code != TRAP_TRACE;
	if (++steps == 50)
		u->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	(void)signo;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	if (argc == 1)
		sigaction(SIGTRAP, &act, NULL);
	for (int i = 0; i < 1000; i++)
		sum += i;
	__asm__ volatile("sub $128, %%rsp; pushfq; orl $0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc");
	for (int i = 0; i < 100; i++)
		sum += i;
	printf("steps %d, others %d, sum %d\n", steps, others, sum);
	(void)argv;
	return 0;
}
