/* A loop in one line that a handler interrupts. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile unsigned n, ticks;

static void on_alarm(int sig)
{
	ticks += sig > 0;
	ticks += 0; /* the handler's last */
}

int main(void)
{
	struct itimerval every = {{0, 2000}, {0, 2000}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < 4) n++; /* waits */
	printf("%d\n", n > 0);
	return 0;
}
