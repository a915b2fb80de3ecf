/* Reads the time-stamp counter in many ways, by rdtsc and rdtscp, and prints what must be so: it goes on, also from one to
 * the other; rdtscp tells the processor that getcpu tells; nothing else changes, in no register and no flag; signals,
 * threads and children do not disturb it. */
#define _GNU_SOURCE
#include <asm/hwcap2.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

enum { ROUNDS = 1000 };

/* Each runs its instruction with these registers and a set carry flag: rbx, rcx, rsi, rdi, rbp, r8 to r14 but r11, flags. */
void with_rdtsc(uint64_t *out), with_rdtscp(uint64_t *out);
__asm__(".macro with_registers insn\n"
        "	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n"
        "	push %rdi\n"
        "	mov $0x1111111111111111, %rbx\n"
        "	mov $0x2222222222222222, %rcx\n"
        "	mov $0x3333333333333333, %rsi\n"
        "	mov $0x4444444444444444, %rdi\n"
        "	mov $0x5555555555555555, %rbp\n"
        "	mov $0x6666666666666666, %r8\n"
        "	mov $0x7777777777777777, %r9\n"
        "	mov $0x8888888888888888, %r10\n"
        "	mov $0x9999999999999999, %r12\n"
        "	mov $0xaaaaaaaaaaaaaaaa, %r13\n"
        "	mov $0xbbbbbbbbbbbbbbbb, %r14\n"
        "	mov $0xcccccccccccccccc, %r11\n"
        "	push %rsp\n"
        "	stc\n"
        "	\\insn\n"
        "	mov %eax, %eax\n"
        "	mov %edx, %edx\n"
        "	pushfq\n"
        "	pop %rax\n"
        "	pop %rdx\n"
        "	cmp %rdx, %rsp\n"
        "	jne 1f\n"
        "	and $1, %eax\n"
        "	mov (%rsp), %rdx\n"
        "	mov %rbx, (%rdx)\n	mov %rcx, 8(%rdx)\n	mov %rsi, 16(%rdx)\n	mov %rdi, 24(%rdx)\n"
        "	mov %rbp, 32(%rdx)\n	mov %r8, 40(%rdx)\n	mov %r9, 48(%rdx)\n	mov %r10, 56(%rdx)\n"
        "	mov %r12, 64(%rdx)\n	mov %r13, 72(%rdx)\n	mov %r14, 80(%rdx)\n	mov %r11, 88(%rdx)\n"
        "	mov %rax, 96(%rdx)\n"
        "1:	pop %rdi\n"
        "	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
        "	ret\n"
        ".endm\n"
        ".text\n"
        "with_rdtsc:	with_registers rdtsc\n"
        "with_rdtscp:	with_registers rdtscp\n");

/* What getcpu tells, as rdtscp has it. */
static unsigned told_cpu(void)
{
	unsigned cpu, node;

	syscall(SYS_getcpu, &cpu, &node, NULL);
	return node << 12 | cpu;
}

static unsigned wrong_registers(void (*with)(uint64_t *out), uint64_t rcx)
{
	unsigned wrong = 0;

	for (int k = 0; k < ROUNDS; k++) {
		uint64_t out[13] = {0};

		with(out);
		for (int i = 0; i < 12; i++)
			wrong += out[i] != (i == 1 ? rcx : 0x1111111111111111 * (i + 1));
		wrong += out[12] != 1;
	}
	return wrong;
}

static void registers(void)
{
	printf("registers: %u, %u wrong\n", wrong_registers(with_rdtsc, 0x2222222222222222),
	       wrong_registers(with_rdtscp, told_cpu()));
}

static unsigned long goes_on(int rounds)
{
	unsigned long back = 0;

	for (int i = 0; i < rounds; i++) {
		unsigned cpu;
		uint64_t a = __rdtsc(), b = __rdtscp(&cpu), c = __rdtsc();

		back += a >= b || b >= c || cpu != told_cpu();
	}
	return back;
}

static volatile sig_atomic_t handled;
static volatile unsigned long back_there;

static void on_timer(int signo)
{
	handled++;
	back_there += goes_on(20);
}

static void signals(void)
{
	struct itimerval every = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
	unsigned long back = 0;

	signal(SIGALRM, on_timer);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; handled < 10 && i < 100000; i++)
		back += goes_on(50);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals: %d, back %lu, %lu\n", handled >= 10, back, back_there);
}

static void *work(void *arg)
{
	*(unsigned long *)arg = goes_on(ROUNDS);
	return arg;
}

static void threads(void)
{
	unsigned long back[3];
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, &back[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("threads: back %lu %lu %lu\n", back[0], back[1], back[2]);
}

static void child(void)
{
	int status;

	if (fork() == 0)
		_exit(goes_on(ROUNDS) ? 8 : 7);
	wait(&status);
	printf("child: %d\n", WEXITSTATUS(status));
	uint64_t before = __rdtsc();
	if (vfork() == 0)
		_exit(before < __rdtsc() ? 7 : 8);
	wait(&status);
	printf("vfork: %d, %d\n", WEXITSTATUS(status), before < __rdtsc());
}

static sigjmp_buf over;
static volatile int as_it_was;

static void on_fault(int signo, siginfo_t *info, void *context)
{
	const greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	as_it_was += g[REG_RAX] == 4711 && g[REG_RDX] == 4712 &&
	             (memcmp((void *)g[REG_RIP], "\x0f\x31", 2) == 0 ||
	              memcmp((void *)g[REG_RIP], "\x0f\x01\xf9", 3) == 0);
	siglongjmp(over, 1);
}

/* The same instructions, allowed and forbidden. */
static __attribute__((noinline)) uint64_t read_it(void)
{
	uint64_t low = 4711, high = 4712;

	__asm__ volatile("rdtsc\n	shl $32, %%rdx\n	or %%rdx, %%rax" : "+a"(low), "+d"(high));
	return low;
}

static __attribute__((noinline)) uint64_t read_it_with_cpu(void)
{
	uint64_t low = 4711, high = 4712;

	__asm__ volatile("rdtscp\n	shl $32, %%rdx\n	or %%rdx, %%rax" : "+a"(low), "+d"(high) : : "rcx");
	return low;
}

static void forbidden(uint64_t (*read)(void))
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	unsigned long back = 0;
	uint64_t last = 0;

	as_it_was = 0;
	sigaction(SIGSEGV, &act, NULL);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < ROUNDS; i++) {
			uint64_t now = read();

			back += now <= last;
			last = now;
		}
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		if (sigsetjmp(over, 1) == 0)
			read();
		prctl(PR_SET_TSC, PR_TSC_ENABLE);
	}
	printf("forbidden: back %lu, as it was %d\n", back, as_it_was);
}

static int room_for_cpu, mended;
extern const char at_store[];

static void mend(int signo, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	mended += info->si_addr == (void *)8 && g[REG_RDI] == 8 && g[REG_RIP] == (greg_t)at_store && (unsigned)g[REG_RCX] == told_cpu();
	g[REG_RDI] = (greg_t)&room_for_cpu;
}

/* What is behind the instruction stores where it must not. */
static __attribute__((noinline)) void faults(void)
{
	struct sigaction act = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
	unsigned wrong = 0;

	sigaction(SIGSEGV, &act, NULL);
	for (int k = 0; k < ROUNDS; k++) {
		void *to = k % 100 == 99 ? (void *)8 : &room_for_cpu;

		room_for_cpu = -1;
		__asm__ volatile("rdtscp\n	at_store: mov %%ecx, (%%rdi)" : "+D"(to) : : "rax", "rcx", "rdx", "memory");
		wrong += (unsigned)room_for_cpu != told_cpu() || to != &room_for_cpu;
	}
	printf("faults: %d mended, %u wrong\n", mended, wrong);
}

/* The program changes them by itself, between one and the next. */
static void bases(void)
{
	const int may = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
	unsigned wrong = 0;

	for (uint64_t k = 1; may && k <= ROUNDS; k++) {
		uint64_t fs, gs, got_fs, got_gs;

		__asm__ volatile("rdfsbase %0\n	rdgsbase %1\n"
		                 "rdtsc\n	shl $32, %%rdx\n	or %%rdx, %%rax\n"
		                 "wrfsbase %4\n	wrgsbase %5\n"
		                 "rdtsc\n	shl $32, %%rdx\n	or %%rdx, %%rax\n"
		                 "rdfsbase %2\n	rdgsbase %3\n"
		                 "wrfsbase %0\n	wrgsbase %1\n"
		                 : "=&r"(fs), "=&r"(gs), "=&r"(got_fs), "=&r"(got_gs)
		                 : "r"(k << 12), "r"(k << 20)
		                 : "rax", "rdx", "cc");
		wrong += got_fs != k << 12 || got_gs != k << 20;
	}
	printf("bases: %u wrong\n", wrong);
}

/* Else its number may change between two instructions. */
static void stay_on_one(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(void)
{
	struct timespec t, begun;

	stay_on_one();
	/* until both clocks have been compared */
	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		__rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((t.tv_sec - begun.tv_sec) * 1000 + (t.tv_nsec - begun.tv_nsec) / 1000000 < 60);
	printf("goes on: back %lu\n", goes_on(ROUNDS));
	registers();
	signals();
	threads();
	child();
	forbidden(read_it);
	forbidden(read_it_with_cpu);
	faults();
	bases();
	puts("well");
	return 0;
}
