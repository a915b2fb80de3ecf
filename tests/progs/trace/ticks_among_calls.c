/* Signals whose handler makes no call, among many calls that do not wait. Prints how many came. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int came;

static void on_tick(int signo)
{
	came++;
}

int main(void)
{
	const struct itimerval every = {{0, 1000}, {0, 1000}};
	volatile unsigned long sum = 0;
	const int fd = open("/dev/null", O_WRONLY);

	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &every, NULL);
	while (came < 500) {
		for (int i = 0; i < 20000; i++)
			sum += i;
		lseek(fd, 0, SEEK_SET);
		getppid();
	}
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	printf("%d\n", came);
	return 0;
}
