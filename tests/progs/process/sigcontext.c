/* A timer's handler switches between two coroutines with swapcontext, as preemptive user threads do. */
#include "selfcheck.h"
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

static ucontext_t main_ctx, co_ctx;
static volatile int in_co, switches;
static volatile long counts[2];
static char stack[256 * 1024];

static void on_alarm(int sig)
{
	(void)sig;
	switches++;
	if (in_co) {
		in_co = 0;
		swapcontext(&co_ctx, &main_ctx);
	} else {
		in_co = 1;
		swapcontext(&main_ctx, &co_ctx);
	}
}

/* It begins with the alarm blocked: until the switch is over the handler may not run again. */
static void coroutine(void)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	for (;;)
		counts[1]++;
}

int main(void)
{
	struct itimerval t = { { 0, 3000 }, { 0, 3000 } };

	CHECK(getcontext(&co_ctx) == 0);
	co_ctx.uc_stack.ss_sp = stack;
	co_ctx.uc_stack.ss_size = sizeof stack;
	sigemptyset(&co_ctx.uc_sigmask);
	sigaddset(&co_ctx.uc_sigmask, SIGALRM);
	makecontext(&co_ctx, coroutine, 0);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
	/* On a slow machine an alarm may come before the other side has done anything. */
	while (switches < 20 || !counts[0] || !counts[1])
		counts[0]++;
	signal(SIGALRM, SIG_IGN);
	printf("main %ld coroutine %ld\n", counts[0], counts[1]);
	CHECK(counts[0] > 0 && counts[1] > 0);
	DONE();
}
