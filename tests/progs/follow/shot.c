/* Children with several threads and a timer's signals, killed at many instants: their parent sees just that. */
#include "check.h"
#include <pthread.h>
#include <sys/time.h>

static volatile long n;

static void on_alarm(int sig)
{
	n++;
}

static void *run(void *pauses)
{
	for (;;) {
		n += work(6000);
		if (pauses)
			usleep(100);
	}
	return NULL;
}

static int threads(void *arg)
{
	struct itimerval often = {{0, 500}, {0, 500}};
	pthread_t t[3];
	sigset_t alarms;

	signal(SIGALRM, on_alarm);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	/* for the first thread alone, whose end is told last */
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	run(NULL);
	return 1;
}

int main(void)
{
	for (int i = 0; i < 30; i++) {
		int sig = i % 3 ? SIGKILL : SIGTERM;
		pid_t pid = child(threads, NULL);

		usleep(15000 + (unsigned)i * 2731);
		CHECK(kill(pid, sig) == 0);
		int status = status_of(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sig);
	}
	DONE();
}
