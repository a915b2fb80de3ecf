/* Signals at every kind of place: in callbacks from libc, in recursion, in libc itself, nested in each
 * other, with what the handlers do visible in the result. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { N = 3000 };

static volatile unsigned long mix = 1;
static volatile int ticks, nested;

static unsigned long stir(unsigned long x, int depth)
{
	return depth ? stir(x * 3 + (unsigned)depth, depth - 1) ^ x : x;
}

static void on_tick(int sig)
{
	ticks++;
	mix = stir(mix, 5);
	if (sig == SIGALRM && ticks % 3 == 0)
		raise(SIGUSR1);
}

static void on_user(int sig)
{
	nested++;
	mix ^= (unsigned long)sig << (nested % 50);
}

static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	mix += *x > *y;
	return (*x > *y) - (*x < *y);
}

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 30;
	struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct sigaction user = {.sa_handler = on_user};
	struct itimerval it = {{0, 1000}, {0, 1000}}, vt = {{0, 1700}, {0, 1700}};
	static int v[N];
	static char text[1 << 20];

	sigaction(SIGALRM, &tick, NULL);
	sigaction(SIGVTALRM, &tick, NULL);
	sigaction(SIGUSR1, &user, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	setitimer(ITIMER_VIRTUAL, &vt, NULL);
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < N; i++)
			v[i] = (int)(stir((unsigned long)i, 3) % 1000);
		qsort(v, N, sizeof(v[0]), compare);
		mix += (unsigned long)fib(18);
		for (int i = 0; i < 20; i++) {
			memset(text, 'a' + i, sizeof(text) - 1);
			mix += strlen(text) + (strchr(text, 'z') != NULL);
		}
		nanosleep(&(struct timespec){0, 300000}, NULL);
		printf("%d %lu\n", r, mix);
	}
	printf("%d ticks, %d nested\n", ticks, nested);
	return ticks < 5;
}
