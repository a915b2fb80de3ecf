/* Computes, reports now and then, and is interrupted by a timer: collatz MAX. Standard input says which numbers are
 * left out. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned ticks;
static unsigned seen[64];

static void on_alarm(int signo)
{
	(void)signo;
	ticks++;
}

static unsigned step(unsigned x)
{
	if (x & 1)
		x = x * 3 + 1;
	else
		x >>= 1;
	seen[x % 64]++;
	return x;
}

static unsigned collatz(unsigned x)
{
	unsigned n = 0;

	while (x > 1) {
		x = step(x);
		n++;
	}
	return n;
}

static void report(unsigned i, unsigned n)
{
	printf("%u takes %u\n", i, n);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned max = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, best = 0;
	struct itimerval it = {{0, 10000}, {0, 10000}};
	unsigned char skip = 0;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &it, NULL);
	if (read(0, &skip, 1) < 0)
		return 1;
	for (unsigned i = 1; i < max; i++) {
		if (i % 256 == skip)
			continue;
		unsigned n = collatz(i);
		if (n > best) {
			best = n;
			report(i, n);
		}
	}
	printf("%u\n", best);
	return 0;
}
