/* A loop that only turns one word in memory to and fro. The handler turns it as well, so that it is often the same at
 * two interruptions and another in between: what is equal at both is not equal all the way. */
#include "selfcheck.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

/* in a page of its own */
static volatile unsigned long word __attribute__((aligned(4096)));
static int ticks __attribute__((aligned(4096)));

static void on_alarm(int sig)
{
	(void)sig;
	lseek(-1, (off_t)word, SEEK_SET);
	word ^= 1;
	if (++ticks < 30)
		return;
	CHECK(word < 2);
	puts("all is well");
	exit(0);
}

int main(void)
{
	struct itimerval t = { { 0, 3000 }, { 0, 3000 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
	for (;;)
		__asm__ volatile("xorq $1, %0\n\tcmp %%eax, %%eax" : "+m"(word) : : "cc");
}
