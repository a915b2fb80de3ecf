/* SIGSEGV handled (the handler opens the page), then blocked, then ignored, while much marked code and
 * rdtsc run: disposition and mask must stay what the program set. */
#include "selfcheck.h"
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

static char *volatile page;
static volatile int faults;

static void on_segv(int sig, siginfo_t *si, void *ctx)
{
	(void)sig, (void)ctx;
	CHECK(si->si_addr == page + 100);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	faults++;
}

static uint64_t work(int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum = i & 1 ? sum * 3 + i : sum + 7;
	return sum + (__rdtsc() > 0);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO }, now;
	sigset_t set;
	uint64_t sum = 0;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < 5; i++) {
		mprotect(page, 4096, PROT_NONE);
		((volatile char *)page)[100] = (char)i;
		CHECK(faults == i + 1 && page[100] == i);
	}
	sum += work(300000);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sum += work(300000);
	sigprocmask(SIG_SETMASK, NULL, &set);
	CHECK(sigismember(&set, SIGSEGV));
	sigaction(SIGSEGV, NULL, &now);
	CHECK(now.sa_sigaction == on_segv);
	raise(SIGSEGV);
	sigpending(&set);
	CHECK(sigismember(&set, SIGSEGV));
	signal(SIGSEGV, SIG_IGN);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sum += work(300000);
	raise(SIGSEGV);
	sigaction(SIGSEGV, NULL, &now);
	CHECK(now.sa_handler == SIG_IGN);
	printf("sum %lu\n", (unsigned long)sum);
	DONE();
}
