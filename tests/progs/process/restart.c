/* Calls interrupted by signals: restarted with SA_RESTART, EINTR without; sleeps cut short. */
#include "selfcheck.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fds[2];
static volatile int alarms, wanted;

static void on_alarm(int sig)
{
	(void)sig;
	if (wanted && ++alarms % 3 == 0) {
		wanted = 0;
		(void)!write(fds[1], "x", 1);
	}
}

static void set_handler(int flags)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = flags };

	sigaction(SIGALRM, &sa, NULL);
}

int main(void)
{
	struct itimerval t = { { 0, 5000 }, { 0, 5000 } };
	struct timespec long_sleep = { 1, 0 }, rest = { 0, 0 };
	char c = 0;

	CHECK(pipe(fds) == 0);
	wanted = 1;
	set_handler(SA_RESTART);
	setitimer(ITIMER_REAL, &t, NULL);
	CHECK(read(fds[0], &c, 1) == 1 && c == 'x' && alarms >= 3);
	set_handler(0);
	CHECK(read(fds[0], &c, 1) == -1 && errno == EINTR);
	CHECK(nanosleep(&long_sleep, &rest) == -1 && errno == EINTR && rest.tv_nsec > 0);
	struct pollfd p = { fds[0], POLLIN, 0 };
	int r;
	wanted = 1;
	while ((r = poll(&p, 1, 1000)) == -1 && errno == EINTR)
		;
	CHECK(r == 1 && read(fds[0], &c, 1) == 1);
	memset(&t, 0, sizeof t);
	setitimer(ITIMER_REAL, &t, NULL);
	/* An ignored signal (SIGCHLD) during a sleep: the kernel goes on sleeping by restart_syscall. */
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	long_sleep = (struct timespec){ 0, 50000000 };
	CHECK(nanosleep(&long_sleep, NULL) == 0);
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	DONE();
}
