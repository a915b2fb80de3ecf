/* Threads that wait for each other by futexes, in all the ways in which such a wait ends: argv[1] says which. */
#define _GNU_SOURCE
#include "kinds.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { ROUNDS = 200, WAITERS = 6 };

static long futex(volatile int *word, int op, int value, const struct timespec *until, int bits)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, until, NULL, bits);
}

/* ---- a hand-over, both ways ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int turn, rounds;

static void hand(int me)
{
	pthread_mutex_lock(&mutex);
	while (turn != me)
		pthread_cond_wait(&cond, &mutex);
	turn = !me;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
}

static void *partner(void *arg)
{
	for (int i = 0; i < rounds; i++)
		hand(1);
	return arg;
}

static void warm_up(int n)
{
	pthread_t other;

	rounds = n;
	turn = 0;
	SEE(pthread_create(&other, NULL, partner, NULL) == 0);
	for (int i = 0; i < n; i++)
		hand(0);
	SEE(pthread_join(other, NULL) == 0);
}

static void handovers(void)
{
	warm_up(20 * ROUNDS);
}

static void forever(void)
{
	for (;;)
		warm_up(ROUNDS);
}

/* ---- who is woken, and how many ---- */

static volatile int word, over, awake[WAITERS];

static void *waiter(void *arg)
{
	const int i = (int)(intptr_t)arg;

	while (!over) {
		long ret = futex(&word, FUTEX_WAIT_BITSET, 7, NULL, 1 << i);
		if (over)
			break;
		/* the word is always the same: nothing but a wake ends it */
		SEE(ret == 0);
		__atomic_fetch_add(&awake[i], 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static int all_awake(void)
{
	int n = 0;

	for (int i = 0; i < WAITERS; i++)
		n += __atomic_load_n(&awake[i], __ATOMIC_SEQ_CST);
	return n;
}

static void counts(void)
{
	pthread_t th[WAITERS];
	long woken = 0;

	word = 7;
	for (intptr_t i = 0; i < WAITERS; i++)
		SEE(pthread_create(&th[i], NULL, waiter, (void *)i) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		const int n = i % 4, bit = i % WAITERS;
		long ret = i % 2 ? futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, 1 << bit)
		                 : futex(&word, FUTEX_WAKE, n, NULL, 0);

		SEE(ret >= 0 && ret <= (i % 2 ? 1 : n ? n : 1));
		woken += ret;
		hand(0); /* they go on */
		for (double begun = now(); all_awake() != woken;)
			SEE(now() < begun + 20 && sched_yield() == 0);
	}
	SEE(woken > ROUNDS / 4);
	over = 1;
	word = 8;
	futex(&word, FUTEX_WAKE, INT_MAX, NULL, 0);
	for (int i = 0; i < WAITERS; i++)
		SEE(pthread_join(th[i], NULL) == 0);
}

static void woken_by_bits(void)
{
	pthread_t other;

	warm_up(ROUNDS);
	rounds = ROUNDS;
	SEE(pthread_create(&other, NULL, partner, NULL) == 0);
	counts();
	SEE(pthread_join(other, NULL) == 0);
}

/* ---- times ---- */

static volatile int stop;
static void *compute(void *arg)
{
	for (volatile unsigned i = 0; !stop; i++)
		;
	return arg;
}

/* An instant is kept, whatever others do. */
static void times(void)
{
	pthread_t other;

	warm_up(ROUNDS);
	SEE(pthread_create(&other, NULL, compute, NULL) == 0);
	for (int i = 0; i < 8; i++) {
		const double begun = now(), end = begun + 0.02;
		struct timespec t = {(time_t)end, (long)((end - (double)(time_t)end) * 1e9)};

		SEE(futex(&word, FUTEX_WAIT_BITSET, word, &t, -1) == -1 && errno == ETIMEDOUT);
		SEE(now() >= end - 1e-6 && now() < end + 20);
	}
	struct timespec bad = {0, -1};
	SEE(futex(&word, FUTEX_WAIT_BITSET, word, &bad, -1) == -1 && errno == EINVAL);
	stop = 1;
	SEE(pthread_join(other, NULL) == 0);
}

/* ---- signals ---- */

static volatile sig_atomic_t caught;
static volatile pthread_t caught_by;
static void count(int signo)
{
	caught_by = pthread_self();
	caught++;
}

static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t other_cond = PTHREAD_COND_INITIALIZER;
static volatile int waits;
static void *wait_for_ever(void *arg)
{
	pthread_mutex_lock(&other_mutex);
	waits++;
	pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &other_mutex);
	while (!stop)
		pthread_cond_wait(&other_cond, &other_mutex);
	pthread_cleanup_pop(1);
	return arg;
}

static void interrupted(void)
{
	struct sigaction act = {.sa_handler = count, .sa_flags = SA_RESTART};
	pthread_t other;
	sigset_t usr2;
	void *result;

	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	SEE(sigaction(SIGUSR1, &act, NULL) == 0 && sigaction(SIGUSR2, &act, NULL) == 0);
	warm_up(ROUNDS);
	SEE(pthread_create(&other, NULL, wait_for_ever, NULL) == 0);
	pthread_sigmask(SIG_BLOCK, &usr2, NULL);
	for (int i = 0; i < 40; i++) {
		const int was = caught;

		pthread_mutex_lock(&other_mutex);
		pthread_cond_broadcast(&other_cond);
		pthread_mutex_unlock(&other_mutex);
		if (i % 2)
			sched_yield();
		/* only the other one takes it */
		SEE((i % 4 < 2 ? pthread_kill(other, SIGUSR1) : kill(getpid(), SIGUSR2)) == 0);
		for (double begun = now(); caught == was; i % 3 ? sched_yield() : 0)
			SEE(now() < begun + 20);
		SEE(pthread_equal(caught_by, other));
	}
	SEE(waits == 1 && pthread_cancel(other) == 0);
	SEE(pthread_join(other, &result) == 0 && result == PTHREAD_CANCELED);
	SEE(pthread_mutex_trylock(&other_mutex) == 0 && pthread_mutex_unlock(&other_mutex) == 0);
}

/* ---- clocks ---- */

static volatile uint64_t read_last;
static void read_clocks(void)
{
	struct timespec t;

	SEE(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
	read_last ^= (uint64_t)t.tv_nsec ^ __builtin_ia32_rdtsc();
}

static void hand_with_clocks(int me, int n)
{
	for (int i = 0; i < n; i++) {
		hand(me);
		read_clocks();
	}
}

static void *first_with_clocks(void *arg)
{
	hand_with_clocks(0, rounds);
	return arg;
}

static void *second_with_clocks(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		hand(1);
		if (i > rounds / 2)
			read_clocks();
	}
	return arg;
}

static void two_with_clocks(int n)
{
	pthread_t th[2];
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	rounds = n;
	turn = 0;
	SEE(pthread_create(&th[0], NULL, first_with_clocks, NULL) == 0);
	SEE(pthread_create(&th[1], NULL, second_with_clocks, NULL) == 0);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	SEE(pthread_join(th[0], NULL) == 0 && pthread_join(th[1], NULL) == 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
}

/* Signals meet threads while they are given the turn by one that has the counter, before they have it themselves: each
 * new one begins without, as this one never reads a clock. */
static void clocks(void)
{
	const struct itimerval often = {{0, 300}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = count, .sa_flags = SA_RESTART};

	SEE(sigaction(SIGALRM, &act, NULL) == 0);
	two_with_clocks(6000);
	SEE(setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (int i = 0; i < 100; i++)
		two_with_clocks(40);
	SEE(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

/* Code of which the recorder knows nothing, made while the other one waits, which has the counter. */
typedef uint64_t (*counter_code)(void);
static volatile counter_code made;

static void *partner_by_code(void *arg)
{
	const pid_t parent = getppid();

	hand_with_clocks(1, rounds);
	for (int i = 0; i < ROUNDS; i++) {
		hand(1);
		/* replay goes other ways with other values */
		if (made() >> 5 & 1)
			SEE(getppid() == parent);
	}
	return arg;
}

static void made_code(void)
{
	static const uint8_t code[] = {0x0f, 0x31, 0xc3}; /* rdtsc, ret */
	pthread_t other;

	rounds = 9000;
	turn = 0;
	SEE(pthread_create(&other, NULL, partner_by_code, NULL) == 0);
	hand_with_clocks(0, rounds);
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	SEE(at != MAP_FAILED);
	memcpy(at, code, sizeof(code));
	made = (counter_code)at;
	for (int i = 0; i < ROUNDS; i++)
		hand(0);
	SEE(pthread_join(other, NULL) == 0);
}

/* ---- other ways ---- */

static volatile int from, to, got;
static void *moved(void *arg)
{
	long ret = futex(&from, FUTEX_WAIT, 0, NULL, 0);

	SEE(ret == 0 || errno == EAGAIN);
	__atomic_fetch_add(&got, 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void requeued(void)
{
	pthread_t th[3], other;

	for (int round = 0; round < 20; round++) {
		from = got = 0;
		warm_up(30);
		rounds = 40;
		SEE(pthread_create(&other, NULL, partner, NULL) == 0);
		for (int i = 0; i < 3; i++)
			SEE(pthread_create(&th[i], NULL, moved, NULL) == 0);
		for (int i = 0; i < 40; i++)
			hand(0);
		/* whoever comes later finds another word */
		from = 1;
		long n = syscall(SYS_futex, &from, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 1,
		                 (void *)INT_MAX, &to, 1);
		SEE(n >= 0 && n <= 3);
		for (double begun = now(); got < 3; sched_yield()) {
			SEE(now() < begun + 20);
			futex(&to, FUTEX_WAKE, 1, NULL, 0);
		}
		for (int i = 0; i < 3; i++)
			SEE(pthread_join(th[i], NULL) == 0);
		SEE(pthread_join(other, NULL) == 0);
	}
}

/* futex() by an instruction behind which nothing can be moved, with padding nearby: a short jump. */
long short_futex(volatile int *word, int op, int value, const struct timespec *until);
__asm__(".text\n	.balign 16\nshort_futex:\n	mov %rcx, %r10\n	mov $202, "
        "%eax\n	syscall\n	ret\n"
        "behind:	lea 3(%rdi), %rax\n	ret\n	.byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n	"
        "jmp behind\n");

static volatile int asleep, round_no;
static void *sleeper(void *arg)
{
	for (int i = 1; i <= 20; i++) {
		asleep = i;
		while (round_no < i)
			SEE(short_futex(&round_no, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, i - 1, NULL) ==
			        0 ||
			    round_no >= i);
	}
	return arg;
}

/* For so long the kernel has to know of the other's wait: that call is made while this thread is in calls, too. */
static void long_asleep(void)
{
	const pid_t parent = getppid();
	pthread_t other;

	warm_up(2 * ROUNDS);
	SEE(pthread_create(&other, NULL, sleeper, NULL) == 0);
	for (int i = 1; i <= 20; i++) {
		while (asleep < i)
			sched_yield();
		for (double end = now() + 0.04; now() < end;)
			SEE(getppid() == parent);
		round_no = i;
		futex(&round_no, FUTEX_WAKE, 1, NULL, 0);
	}
	SEE(pthread_join(other, NULL) == 0);
}

/* A child stops all threads, again and again. */
static void stop_parent(pid_t parent)
{
	for (int i = 0; i < 300; i++) {
		kill(parent, SIGSTOP);
		usleep(i * 37 % 500);
		kill(parent, SIGCONT);
		usleep(500 + i * 61 % 1000);
	}
	_exit(0);
}

static void stopped(void)
{
	const pid_t parent = getpid();
	int status;

	warm_up(ROUNDS);
	const pid_t child = fork();
	if (child == 0)
		stop_parent(parent);
	SEE(child > 0);
	while (waitpid(child, &status, WNOHANG) == 0)
		warm_up(ROUNDS / 4);
	SEE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* While another one waits: a child, and the end. */
static void left(void)
{
	pthread_t other, third;
	int status;

	warm_up(ROUNDS);
	rounds = INT_MAX;
	SEE(pthread_create(&third, NULL, wait_for_ever, NULL) == 0);
	SEE(pthread_create(&other, NULL, partner, NULL) == 0);
	for (int i = 0; i < 30; i++) {
		for (int k = 0; k < 10; k++)
			hand(0);
		pid_t child = fork();
		if (child == 0)
			_exit(turn);
		SEE(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	}
}

/* More threads wait than can hand the turn without a stop: one makes all kinds of calls. */
static void crowd(void)
{
	enum { MANY = 80 };
	pthread_t th[MANY];

	for (int i = 0; i < MANY; i++)
		SEE(pthread_create(&th[i], NULL, wait_for_ever, NULL) == 0);
	while (waits < MANY)
		sched_yield();
	warm_up(ROUNDS);
	for (int i = 0; i < 10 * ROUNDS; i++)
		SEE(getppid() != getpid());
	for (int i = 0; i < 10 * ROUNDS; i++)
		SEE(getuid() != (uid_t)-1);
	stop = 1;
	pthread_mutex_lock(&other_mutex);
	pthread_cond_broadcast(&other_cond);
	pthread_mutex_unlock(&other_mutex);
	for (int i = 0; i < MANY; i++)
		SEE(pthread_join(th[i], NULL) == 0);
}

/* ---- what each thread has of the processor ---- */

struct state {
	uint8_t vectors[16][16];
	uint32_t mxcsr;
	uint16_t x87;
	int clear; /* vectors are as a program begins */
	/* as fxsave64 stores it: the address of the last x87 instruction is at 8 */
	uint8_t before[512] __attribute__((aligned(16))), after[512];
};
static volatile int whose;
static __thread int passes;

#define EACH(what)                                                                                 \
	what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10)   \
	    what(11) what(12) what(13) what(14) what(15)
#define LOAD(n) "movdqu " #n "*16(%[put]), %%xmm" #n "\n"
#define STORE(n) "movdqu %%xmm" #n ", " #n "*16(%[got])\n"

/* The other thread has the turn, and this one has it again: all that the kernel keeps must be as before.
 * Behind the calls there is room for a jump. Of an exception of x87 that is still to come the kernel keeps more. */
static __attribute__((noinline)) void pass(long me, const struct state *put, struct state *got,
                                           const void *wait)
{
	register long other __asm__("r12") = !me;

	__asm__ volatile(EACH(LOAD) "cmpl $0, 264(%[put])\n"
	                            "je 3f\n"
	                            "vzeroall\n"
	                            "3: ldmxcsr 256(%[put])\n"
	                            "fldcw 260(%[put])\n"
	                            "fld1\n"
	                            "fldz\n"
	                            "fdivrp\n"
	                            "fxsave64 272(%[got])\n"
	                            "movl %%r12d, (%[word])\n"
	                            "movl $202, %%eax\n"
	                            "movq %[word], %%rdi\n"
	                            "movl $129, %%esi\n"
	                            "movl $1, %%edx\n"
	                            "syscall\n"
	                            "movl %%eax, %%eax\n"
	                            "movl %%eax, %%eax\n"
	                            "1: cmpl %%r12d, (%[word])\n"
	                            "jne 2f\n"
	                            "movl $202, %%eax\n"
	                            "movq %[word], %%rdi\n"
	                            "movl $128, %%esi\n"
	                            "movl %%r12d, %%edx\n"
	                            "xorl %%r10d, %%r10d\n"
	                            "call *%[wait]\n"
	                            "jmp 1b\n"
	                            "2: \n" EACH(STORE) "stmxcsr 256(%[got])\n"
	                                                "fxsave64 784(%[got])\n"
	                                                "fnclex\n"
	                                                "fnstcw 260(%[got])\n"
	                                                "fninit\n"
	                 : "+r"(other)
	                 : [put] "r"(put), [got] "r"(got), [word] "r"(&whose), [wait] "r"(wait)
	                 : "rax", "rcx", "rdx", "rdi", "rsi", "r10", "r11", "xmm0", "xmm1", "xmm2",
	                   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
	                   "xmm12", "xmm13", "xmm14", "xmm15", "memory");
	SEE(other == !me);
}

/* gs has no use here. */
static void put_gs(uint64_t base)
{
	if (getauxval(AT_HWCAP2) & 2)
		__asm__ volatile("wrgsbase %0" : : "r"(base));
}
static uint64_t got_gs(uint64_t base)
{
	if (getauxval(AT_HWCAP2) & 2)
		__asm__ volatile("rdgsbase %0" : "=r"(base));
	return base;
}

void wait_here(void);
__asm__(".text\nwait_here:	syscall\n	movl %eax, %eax\n	movl %eax, %eax\n	"
        "ret\n");
static const void *waits_by[2] = {(const void *)wait_here, (const void *)wait_here};

static void *keep(void *arg)
{
	const long me = (long)arg;
	struct state put, got;

	/* each rounds in a way of its own, and stops at no exception but x87's division by zero */
	put.mxcsr = 0x1f80 | (me ? 0x6000 : 0x2000);
	put.x87 = me ? 0x0f7b : 0x077b;
	for (int i = 0; i < 10 * ROUNDS; i++) {
		memset(put.vectors, (int)(2 * i + me), sizeof(put.vectors));
		put.vectors[i % 16][3] ^= 0x5a;
		put.clear = i % 16 == 5 && __builtin_cpu_supports("avx");
		if (put.clear)
			memset(put.vectors, 0, sizeof(put.vectors));
		put_gs(2 * i + me);
		pass(me, &put, &got, waits_by[me]);
		SEE(got_gs(2 * i + me) == (uint64_t)(2 * i + me));
		SEE(!memcmp(put.vectors, got.vectors, sizeof(put.vectors)));
		SEE(put.mxcsr == got.mxcsr && put.x87 == got.x87 && ++passes == i + 1);
		SEE(!memcmp(got.before + 8, got.after + 8, 8));
	}
	whose = !me;
	futex(&whose, FUTEX_WAKE, 1, NULL, 0);
	return arg;
}

static void registers(void)
{
	pthread_t other;

	warm_up(ROUNDS);
	whose = 0;
	SEE(pthread_create(&other, NULL, keep, (void *)1L) == 0);
	keep(NULL);
	SEE(pthread_join(other, NULL) == 0);
}

/* One of them waits in code of its own making, whose calls have stops. */
static void registers_far(void)
{
	static const uint8_t code[] = {0x0f, 0x05, 0xc3};
	void *at =
	    mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	SEE(at != MAP_FAILED && memcpy(at, code, sizeof(code)));
	SEE(mprotect(at, sizeof(code), PROT_READ | PROT_EXEC) == 0);
	waits_by[0] = at;
	registers();
}

int main(int argc, char **argv)
{
	static const struct kind all[] = {
	    {"handovers", handovers}, {"woken_by_bits", woken_by_bits},
	    {"times", times},         {"interrupted", interrupted},
	    {"clocks", clocks},       {"made_code", made_code},
	    {"requeued", requeued},   {"stopped", stopped},
	    {"left", left},           {"long_asleep", long_asleep},
	    {"registers", registers}, {"registers_far", registers_far},
	    {"crowd", crowd},         {"forever", forever}};

	return run_kind(all, sizeof(all) / sizeof(*all), argv[1]);
}
