/* A PID namespace: its first process is number 1 there, gets signals from others of it, and with its end all others end, whatever
 * they are about: computing on what they share, asleep in a call, waiting for a futex. Where that is not allowed, nothing is
 * done. */
#include "check.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static struct shared {
	volatile uint32_t ready, word, count[2];
} *s;
enum { SIGNALS = 8 };
static volatile sig_atomic_t from, known;

static void on_signal(int sig, siginfo_t *info, void *ctx)
{
	from = info->si_pid;
	known += info->si_code == SI_QUEUE && info->si_value.sival_int == 77;
}

static int sends(void *arg)
{
	union sigval v = {.sival_int = 77};

	munmap(s, 4096); /* now the other one need not wait, it computes */
	CHECK(getppid() == 1);
	for (int i = 0; i < SIGNALS; i++) {
		usleep(7000);
		CHECK(sigqueue(1, SIGRTMIN, v) == 0);
	}
	return 34;
}

static int computes(void *arg)
{
	__atomic_fetch_add(&s->ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		s->count[(intptr_t)arg] += work(100) & 3;
	return 1;
}

static int sleeps(void *arg)
{
	__atomic_fetch_add(&s->ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return 1;
}

static int waits(void *arg)
{
	__atomic_fetch_add(&s->ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		syscall(SYS_futex, &s->word, FUTEX_WAIT, 1, NULL, NULL, 0);
	return 1;
}

static int is_first(void *arg)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	CHECK(getpid() == 1 && sigaction(SIGRTMIN, &sa, NULL) == 0);
	pid_t pid = child(sends, NULL);
	for (unsigned long i = 0; known < SIGNALS && i < 400000000; i++)
		;
	CHECK(from == pid && known == SIGNALS);
	ends_with(pid, 34);
	s->word = 1;
	for (int i = 0; i < 2; i++)
		child(computes, (void *)(intptr_t)i);
	child(sleeps, NULL);
	child(waits, NULL);
	while (s->ready < 4)
		;
	return 33;
}

int main(void)
{
	s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(s != MAP_FAILED);
	if (unshare(CLONE_NEWPID) == 0)
		ends_with(child(is_first, NULL), 33);
	DONE();
}
