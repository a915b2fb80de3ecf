/* At which instructions of a hot loop signals come: hot_loop marked|unmarked TICKS MICROSECONDS prints for
 * each instruction's offset how many did. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { MOST = 256 };
static volatile unsigned hits[MOST], ticks;
static uintptr_t from;
uint64_t hot_sum;

/* Without markers. */
void unmarked(uint64_t rounds);
__asm__(".globl unmarked\n.type unmarked,@function\nunmarked:\n"
        "1: addq %rdi, hot_sum(%rip)\n imul $3, %rdi, %rax\n xorq %rax, hot_sum(%rip)\n"
        " movq hot_sum(%rip), %rdx\n shrq $7, %rdx\n addq %rdx, hot_sum(%rip)\n"
        " decq %rdi\n jnz 1b\n ret\n.size unmarked,.-unmarked\n");

static void marked(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		hot_sum += i;
		hot_sum ^= i * 3;
		hot_sum += hot_sum >> 7;
	}
}

static void on_tick(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	const uintptr_t at = (uintptr_t)u->uc_mcontext.gregs[REG_RIP] - from;

	ticks++;
	if (at < MOST)
		hits[at]++;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval every = {{0, 0}, {0, 0}};
	void (*work)(uint64_t) = argc > 1 && !strcmp(argv[1], "marked") ? marked : unmarked;
	const unsigned most = argc > 2 ? (unsigned)atoi(argv[2]) : 100;

	from = (uintptr_t)work;
	work(8000000); /* so that the recorder's buffers have all been stored to once */
	every.it_value.tv_usec = every.it_interval.tv_usec = argc > 3 ? atol(argv[3]) : 1000;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < most)
		work(1500);
	every.it_value.tv_usec = every.it_interval.tv_usec = 0;
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < MOST; i++)
		if (hits[i])
			printf("%d %u\n", i, hits[i]);
	return 0;
}
