/* Handlers that interrupt hot code with markers at any instruction: nested ones, on a stack of their
 * own, left by siglongjmp, in a callback of the C library, in a thread. They mix what they find in
 * variables that the loops are just changing, so any other instant gives other output. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile uint64_t mixed = 1, at_work, ticks, outs;
static volatile int may_jump;
static __thread volatile int depth;
static sigjmp_buf out;

struct pair {
	uint64_t a, b;
};
static volatile struct pair pair;

static void mix(uint64_t x)
{
	mixed = (mixed ^ x) * 6364136223846793005u + 1442695040888963407u;
}

static void on_tick(int signo, siginfo_t *info, void *context)
{
	depth++;
	ticks++;
	mix(pair.a - pair.b);
	mix(at_work);
	if (ticks % 7 == 0 && depth < 3)
		raise(SIGUSR1);
	if (ticks % 11 == 0 && depth < 3)
		raise(SIGALRM); /* SA_NODEFER */
	depth--;
}

static void on_usr1(int signo)
{
	mix(ticks);
	if (may_jump && depth == 1 && ticks % 5 == 0) {
		depth = 0;
		outs++;
		siglongjmp(out, 1);
	}
}

static uint64_t straight(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		pair.a += i;
		at_work = i * 3;
		at_work ^= pair.a;
		pair.b += i;
	}
	return pair.a;
}

static int deep(int n)
{
	at_work += n;
	return n < 2 ? n : deep(n - 1) + deep(n - 2);
}

static int by_value(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	at_work = a;
	pair.a++;
	int less = a < b ? -1 : a > b;
	pair.b++;
	return less;
}

static uint32_t sort(uint32_t seed)
{
	static uint32_t v[200];

	for (int i = 0; i < 200; i++)
		v[i] = seed = seed * 1664525 + 1013904223;
	qsort(v, 200, sizeof(v[0]), by_value);
	return v[100];
}

static struct big {
	char bytes[3000];
} from, to;

static void copies(int n)
{
	for (int i = 0; i < n; i++) {
		from.bytes[i] = (char)mixed;
		to = from;
		__atomic_fetch_or(&at_work, (uint64_t)to.bytes[i], __ATOMIC_SEQ_CST);
		__atomic_fetch_nand(&pair.a, 5, __ATOMIC_SEQ_CST);
		pair.b = pair.a;
	}
}

static void *in_thread(void *arg)
{
	uint64_t last = 0;

	for (uint64_t n = (uint64_t)(uintptr_t)arg; ticks < n; last++)
		straight(50);
	return NULL;
}

int main(int argc, char **argv)
{
	int us = argc > 1 ? atoi(argv[1]) : 500;
	uint64_t end = argc > 2 ? strtoull(argv[2], NULL, 0) : 400;
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction sa = {.sa_sigaction = on_tick,
	                       .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};
	struct itimerval every = {{0, us}, {0, us}};
	volatile uint64_t round = 0;
	pthread_t thread;

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &sa, NULL);
	signal(SIGUSR1, on_usr1);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < end) {
		round++;
		if (sigsetjmp(out, 1) == 0) {
			may_jump = 1;
			mix(straight(300));
			mix((uint64_t)deep(9));
			may_jump = 0;
		}
		may_jump = 0;
		mix(sort((uint32_t)round));
		copies(100);
		if (round % 500 == 0)
			printf("%llu %llu\n", (unsigned long long)ticks, (unsigned long long)mixed);
	}
	pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)(end + end / 2));
	in_thread((void *)(uintptr_t)(end + end / 2));
	pthread_join(thread, NULL);
	every = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &every, NULL);
	printf("end %llu %llu\n", (unsigned long long)mixed, (unsigned long long)outs);
	return 0;
}
