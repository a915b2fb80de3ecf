/* Several threads and, for the first one, a timer's signals all the time, until a child kills the whole, which then takes
 * long to go if it has many pages: shotdown MICROSECONDS MEGABYTES */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static volatile long n;

static void on_alarm(int sig)
{
	n++;
}

static void *rest(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerval often = {{0, 100}, {0, 100}};
	pthread_t t[3];
	sigset_t alarms;

	if (argc < 3)
		return 2;
	if (fork() == 0) {
		usleep((unsigned)atoi(argv[1]));
		kill(getppid(), SIGKILL);
		_exit(0);
	}
	/* all of them the page of zeros */
	mmap(NULL, (size_t)atoi(argv[2]) << 20, PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	signal(SIGALRM, on_alarm);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	/* the end of the first thread is told last */
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, rest, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0;; i++)
		n += i & 3;
}
