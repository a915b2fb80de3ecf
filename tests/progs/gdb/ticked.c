/* A loop in one line that a handler interrupts, then one of several lines and a handler in one. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile unsigned n, ticks;

static void on_alarm(int sig)
{
	ticks += sig > 0;
	ticks += 0; /* the handler's last */
}

static void at_once(int sig) { ticks += sig > 0; }

int main(void)
{
	struct itimerval every = {{0, 2000}, {0, 2000}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < 4) n++; /* waits */
	signal(SIGALRM, at_once);
	while (ticks < 12) {
		n++;
		if (n % 7 == 3)
			n += 2;
	}
	printf("%d\n", n > 0);
	return 0;
}
