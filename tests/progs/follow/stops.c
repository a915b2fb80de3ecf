/* Group stops: SIGSTOP and SIGCONT with all that a parent can learn of them, a handler for SIGCONT, a stop by SIGTSTP and one
 * that is ignored, a whole group stopped, killed while stopped. */
#include "check.h"

static volatile sig_atomic_t continued;

static void on_cont(int sig)
{
	continued++;
}

static int counts(void *arg)
{
	int *fds = arg, n = 0;
	char b;

	signal(SIGCONT, on_cont);
	signal(SIGTTIN, SIG_IGN);
	CHECK(write(fds[3], "r", 1) == 1);
	while (read(fds[0], &b, 1) != 1 || b != 'e')
		n++;
	return continued == 1 || continued == 2 ? 51 : 1; /* a stop takes away a SIGCONT that is still to come */
}

static int computes(void *arg)
{
	for (;;)
		work(1000);
	return 1;
}

static void is_stopped(pid_t pid, int sig)
{
	int status;

	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == sig);
}

static void is_continued(pid_t pid)
{
	int status;

	CHECK(kill(pid, SIGCONT) == 0);
	CHECK(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
}

int main(void)
{
	siginfo_t info = {0};
	int fds[4], status;
	char b;

	CHECK(pipe(fds) == 0 && pipe(fds + 2) == 0);
	pid_t pid = child(counts, fds);
	CHECK(read(fds[2], &b, 1) == 1);
	CHECK(kill(pid, SIGSTOP) == 0);
	is_stopped(pid, SIGSTOP);
	CHECK(waitpid(pid, &status, WNOHANG | WUNTRACED) == 0);
	is_continued(pid);
	CHECK(kill(pid, SIGTTIN) == 0 && kill(pid, SIGTSTP) == 0);
	CHECK(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT) == 0);
	CHECK(info.si_code == CLD_STOPPED && info.si_status == SIGTSTP);
	is_stopped(pid, SIGTSTP);
	is_continued(pid);
	CHECK(write(fds[1], "e", 1) == 1);
	ends_with(pid, 51);

	/* while they compute */
	pid_t two[2];
	for (int i = 0; i < 2; i++) {
		two[i] = child(computes, NULL);
		CHECK(setpgid(two[i], two[0]) == 0);
	}
	usleep(20000);
	CHECK(kill(-two[0], SIGSTOP) == 0);
	is_stopped(two[0], SIGSTOP);
	is_stopped(two[1], SIGSTOP);
	is_continued(two[0]);
	CHECK(kill(two[1], SIGKILL) == 0);
	CHECK(WTERMSIG(status_of(two[1])) == SIGKILL);
	CHECK(kill(two[0], SIGTERM) == 0 && WTERMSIG(status_of(two[0])) == SIGTERM);

	/* one that stops itself before it does anything */
	pid = fork();
	if (pid == 0) {
		raise(SIGSTOP);
		_exit(read(fds[0], &b, 1) == 1 ? 52 : 1); /* its end would hide that it went on */
	}
	is_stopped(pid, SIGSTOP);
	is_continued(pid);
	CHECK(write(fds[1], "e", 1) == 1);
	ends_with(pid, 52);

	/* one that may not even have begun */
	for (int i = 0; i < 3; i++) {
		pid = child(computes, NULL);
		usleep(i * 3000);
		CHECK(kill(pid, SIGSTOP) == 0);
		is_stopped(pid, SIGSTOP);
		is_continued(pid);
		CHECK(kill(pid, SIGTERM) == 0 && WTERMSIG(status_of(pid)) == SIGTERM);
	}
	DONE();
}
