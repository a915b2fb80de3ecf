/* rseq [late]: restartable sequences (rseq(2)), registered by the C library or, where that does not, by itself. Prints
 * what it is told, but for the numbers of CPUs, and "well". Late: waits until nobody traces it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../let-go/traced.h"

#define SIG 0x53053053
enum { UNREGISTER = 1, LEN = 32, ROUNDS = 3000, LENGTH = 20000 };
/* Weak: a C library before 2.35 has none. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

struct area {
	volatile uint32_t cpu_id_start, cpu_id;
	volatile uint64_t cs;
	volatile uint32_t flags, node_id, mm_cid, rest;
} __attribute__((aligned(32)));

static __thread struct area own;
static struct area *area(void)
{
	if (&__rseq_size && __rseq_size)
		return (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
	return &own;
}

static void see(int good, const char *what)
{
	if (good)
		return;
	printf("wrong: %s\n", what);
	exit(1);
}

static void tell(const char *what, void *at, unsigned long len, long flags, unsigned long sig)
{
	long ret = syscall(SYS_rseq, at, len, flags, sig);

	printf("%s: %s\n", what, ret == 0 ? "done" : strerrorname_np(errno));
}

static void calls(void)
{
	static struct area other;

	own.cpu_id = 77;
	tell("a flag", &own, LEN, 4, SIG);
	tell("two flags", &own, LEN, 5, SIG);
	tell("none to give up", &own, LEN, UNREGISTER, SIG);
	tell("short", &own, LEN - 1, 0, SIG);
	tell("crooked", (char *)&own + 8, LEN, 0, SIG);
	tell("long and crooked", (char *)&own + 8, LEN + 32, 0, SIG);
	tell("the kernel's", (void *)-4096UL, LEN, 0, SIG);
	tell("nowhere", NULL, LEN, 0, SIG);
	own.cs = 4711;
	tell("a new one", &own, LEN, 0, SIG);
	see(own.cpu_id == own.cpu_id_start && own.cpu_id < 4096 && own.cs == 0, "what is stored");
	tell("again", &own, LEN, 0, SIG);
	tell("another signature", &own, LEN, 0, SIG + 1);
	tell("another length", &own, LEN + 32, 0, SIG);
	tell("another place", &other, LEN, 0, SIG);
	tell("other to give up", &other, LEN, UNREGISTER, SIG);
	tell("wrong length to give up", &own, LEN + 32, UNREGISTER, SIG);
	tell("wrong signature to give up", &own, LEN, UNREGISTER, SIG + 1);
	tell("given up", &own, LEN, UNREGISTER, SIG);
	printf("then: %d %u\n", (int)own.cpu_id, own.cpu_id_start);
	tell("given up again", &own, LEN, UNREGISTER, SIG);
	tell("at last", &own, LEN, 0, SIG);
}

/* It moves to each of its CPUs, and believes to be there. */
static void cpus(void)
{
	cpu_set_t all, one;

	see(sched_getaffinity(0, sizeof(all), &all) == 0, "sched_getaffinity");
	for (int i = 0; i < CPU_SETSIZE; i++) {
		unsigned cpu = 9999, node = 9999;

		if (!CPU_ISSET(i, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		see(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
		see(syscall(SYS_getcpu, &cpu, &node, NULL) == 0 && cpu == (unsigned)i, "getcpu");
		see(sched_getcpu() == i, "sched_getcpu");
		see(area()->cpu_id == cpu && area()->cpu_id_start == cpu, "cpu_id");
		see(area()->node_id == node, "node_id");
	}
	sched_setaffinity(0, sizeof(one), &one);
}

/* Adds 1 to *SLOT, by a store that comes long after the load. 1: given up. */
static int add(struct area *a, volatile uint64_t *slot)
{
	uint64_t sum, n = LENGTH;

	__asm__ goto(".pushsection sequences,\"aw\"\n"
	             ".balign 32\n"
	             "3:	.long 0, 0\n"
	             "	.quad 1f, 2f - 1f, 4f\n"
	             ".popsection\n"
	             "	leaq 3b(%%rip), %%rax\n"
	             "	movq %%rax, 8(%[a])\n"
	             "1:	movq (%[slot]), %%rax\n"
	             "	movq %[n], %%rcx\n"
	             "5:	decq %%rcx\n"
	             "	jnz 5b\n"
	             "	incq %%rax\n"
	             "	movq %%rax, (%[slot])\n"
	             "2:\n"
	             ".pushsection given_up,\"ax\"\n"
	             "	.byte 0x0f, 0xb9, 0x3d\n"
	             "	.long 0x53053053\n"
	             "4:	jmp %l[given_up]\n"
	             ".popsection\n"
	             :
	             : [a] "r"(a), [slot] "r"(slot), [n] "r"(n)
	             : "rax", "rcx", "memory", "cc"
	             : given_up);
	return 0;
given_up:
	return 1;
}

static volatile uint64_t sum;
static volatile int begin;

static void *work(void *arg)
{
	struct area *a = area();

	if (a == &own)
		see(syscall(SYS_rseq, a, LEN, 0, SIG) == 0, "a thread registers");
	else
		see(syscall(SYS_rseq, a, LEN, 0, SIG) < 0, "a thread is registered");
	for (int i = 0; i < *(int *)arg; i++) {
		while (add(a, &sum))
			;
		for (volatile int k = 0; k < LENGTH / 4; k++)
			;
	}
	return arg;
}

/* All on one CPU: nobody stores what another one has stored in between. */
static void threads(void)
{
	enum { N = 3 };
	int rounds = ROUNDS;
	pthread_t t[N];

	for (int i = 0; i < N; i++)
		see(pthread_create(&t[i], NULL, work, &rounds) == 0, "pthread_create");
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	printf("sum %llu\n", (unsigned long long)sum);
	see(sum == (uint64_t)N * rounds, "the sum");
}

extern const char given_up_here[], faults_here[];
static volatile int handled, place;

static void on_fault(int signo, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	handled++;
	place = c->uc_mcontext.gregs[REG_RIP] == (long)given_up_here ? 1 : 2;
	see(area()->cs == 0, "the sequence is over in the handler");
	if (place == 2)
		_exit(3);
}

/* A sequence that faults is given up. */
static void fault(void)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct area *a = area();

	sigaction(SIGSEGV, &act, NULL);
	__asm__ volatile(".pushsection sequences,\"aw\"\n"
	                 ".balign 32\n"
	                 "3:	.long 0, 0\n"
	                 "	.quad 1f, 2f - 1f, given_up_here\n"
	                 ".popsection\n"
	                 "	leaq 3b(%%rip), %%rax\n"
	                 "	movq %%rax, 8(%[a])\n"
	                 "1:	xorl %%eax, %%eax\n"
	                 "faults_here:\n"
	                 "	movq %%rax, (%%rax)\n"
	                 "2:	jmp 6f\n"
	                 "	.byte 0x0f, 0xb9, 0x3d\n"
	                 "	.long 0x53053053\n"
	                 "given_up_here:\n"
	                 "6:\n"
	                 :
	                 : [a] "r"(a)
	                 : "rax", "memory", "cc");
	printf("faults %d, at %d\n", handled, place);
}

/* A child that nobody records is the kernel's. */
static void child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		long ret = syscall(SYS_rseq, area(), LEN, 0, SIG);
		cpu_set_t all, one;
		int good = ret < 0 && errno == EBUSY;

		sched_getaffinity(0, sizeof(all), &all);
		for (int i = 0; i < CPU_SETSIZE; i++) {
			if (!CPU_ISSET(i, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(i, &one);
			sched_setaffinity(0, sizeof(one), &one);
			good &= area()->cpu_id == (unsigned)i;
		}
		_exit(good ? 7 : 8);
	}
	see(waitpid(pid, &status, 0) == pid, "waitpid");
	printf("child %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	if (area() == &own)
		calls();
	while (argc > 1 && is_traced())
		;
	cpus();
	fault();
	child();
	threads();
	puts("well");
	return 0;
}
