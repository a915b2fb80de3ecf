/* A loop whose registers and flags are the same every time round: all that changes is in memory. At each alarm the
 * handler passes the count to a system call, whose arguments replay compares. */
#include "selfcheck.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned long rounds;
static int ticks;

static void on_alarm(int sig)
{
	(void)sig;
	lseek(-1, (off_t)rounds, SEEK_SET);
	if (++ticks < 30)
		return;
	printf("rounds %lu\n", rounds);
	CHECK(rounds > 0);
	puts("all is well");
	exit(0);
}

int main(void)
{
	struct itimerval t = { { 0, 3000 }, { 0, 3000 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
	for (;;)
		__asm__ volatile("addq $1, %0\n\tcmp %%eax, %%eax" : "+m"(rounds) : : "cc");
}
