/* Two signals come at once: the handler of the second begins before the first one's has executed an instruction. */
#include <signal.h>
#include <stdio.h>

static volatile long sum;

static void first(int signo)
{
	sum += signo;
}

static void second(int signo)
{
	for (int i = 0; i < 3; i++)
		sum += i * signo;
}

int main(void)
{
	struct sigaction a = {.sa_handler = first}, b = {.sa_handler = second};
	sigset_t both;

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &b, NULL);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	for (int i = 0; i < 6; i++) {
		sigprocmask(SIG_BLOCK, &both, NULL);
		raise(SIGUSR1);
		raise(SIGUSR2);
		sigprocmask(SIG_UNBLOCK, &both, NULL);
		for (int k = 0; k < 50; k++)
			sum += k;
	}
	printf("%ld\n", sum);
	return 0;
}
