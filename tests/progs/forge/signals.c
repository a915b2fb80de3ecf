/* Signals of each kind: sent, from a timer in a loop and in a call, by a fault, ignored, on a stack of its own. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int alarms, sent;
static sigjmp_buf back;

static void on_alarm(int sig)
{
	alarms++;
}

static void on_sent(int sig, siginfo_t *info, void *context)
{
	sent += info->si_value.sival_int;
}

static void on_fault(int sig)
{
	siglongjmp(back, 1);
}

static void handle(int sig, void (*plain)(int), void (*full)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = { .sa_flags = flags };

	if (full)
		a.sa_sigaction = full;
	else
		a.sa_handler = plain;
	sigaction(sig, &a, NULL);
}

int main(void)
{
	struct itimerval t = { { 0, 2000 }, { 0, 2000 } };
	stack_t other = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };

	sigaltstack(&other, NULL);
	handle(SIGALRM, on_alarm, NULL, SA_RESTART);
	handle(SIGUSR1, NULL, on_sent, SA_SIGINFO);
	handle(SIGSEGV, on_fault, NULL, SA_ONSTACK);
	signal(SIGUSR2, SIG_IGN);
	setitimer(ITIMER_REAL, &t, NULL);
	for (int i = 0; i < 4; i++) {
		int seen = alarms;

		sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = i });
		raise(SIGUSR2);
		if (!sigsetjmp(back, 1))
			*(volatile int *)8 = 1;
		if (i % 2)
			pause();
		/* a loop without markers in it */
		else
			__asm__ volatile("1: cmp %0, %1\n je 1b" : : "m"(alarms), "r"(seen) : "cc");
	}
	printf("%d\n", sent);
	return 0;
}
