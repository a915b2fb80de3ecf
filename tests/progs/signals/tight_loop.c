/* A tight loop, interrupted every 2 ms by a handler that changes what the loop prints. */
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>

static volatile uint64_t ticks, mixed;

static void on_alarm(int signo)
{
	ticks++;
	mixed = mixed * 6364136223846793005u + ticks;
}

int main(void)
{
	struct sigaction sa;
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_alarm;
	sigaction(SIGALRM, &sa, NULL);
	struct itimerval every = {{0, 2000}, {0, 2000}};
	setitimer(ITIMER_REAL, &every, NULL);

	uint64_t sum = 1;
	for (uint64_t i = 0; ticks < 200; i++) {
		sum = (sum ^ i) * 0x9E3779B97F4A7C15u + mixed;
		if ((i & 0x3FFFF) == 0)
			printf("%llu %llu %llu\n", (unsigned long long)ticks, (unsigned long long)mixed,
			       (unsigned long long)sum);
	}
	printf("end %llu\n", (unsigned long long)sum);
	return 0;
}
