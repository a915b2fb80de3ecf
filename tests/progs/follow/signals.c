/* Signals between processes: ping-pong with sigsuspend, values in a queue, children's ends told by SIGCHLD and what it says,
 * a process group, a wait that is interrupted and restarted, one that has it blocked, the parent's death. */
#include "check.h"
#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>

enum { ROUNDS = 30 };

static volatile sig_atomic_t got, n_chld, chld_code, chld_status;
static sigset_t usual;

static void on_usr1(int sig)
{
	got++;
}

static void on_chld(int sig, siginfo_t *info, void *uc)
{
	n_chld++;
	chld_code = info->si_code;
	chld_status = info->si_status;
}

static void wait_for(int n)
{
	while (got < n)
		sigsuspend(&usual);
}

static int pong(void *arg)
{
	for (int i = 1; i <= ROUNDS; i++) {
		wait_for(i);
		CHECK(kill(getppid(), SIGUSR1) == 0);
	}
	return 41;
}

static void ping_pong(void)
{
	pid_t pid = child(pong, NULL);

	for (int i = 1; i <= ROUNDS; i++) {
		CHECK(kill(pid, SIGUSR1) == 0);
		wait_for(i);
	}
	ends_with(pid, 41);
}

static int queues(void *arg)
{
	for (int i = 0; i < 10; i++)
		CHECK(sigqueue(getppid(), SIGRTMIN + 1, (union sigval){.sival_int = i * i}) == 0);
	return 42;
}

static void queue(void)
{
	siginfo_t info;
	sigset_t set;
	int next = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid_t pid = child(queues, NULL);
	for (; next < 10; next++) {
		CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 1);
		CHECK(info.si_pid == pid && info.si_code == SI_QUEUE && info.si_value.sival_int == next * next);
	}
	struct timespec no_time = {0, 1000};
	CHECK(sigtimedwait(&set, &info, &no_time) == -1 && errno == EAGAIN);
	ends_with(pid, 42);
}

static int computes_long(void *arg)
{
	setpgid(0, *(pid_t *)arg);
	for (;;)
		work(10000);
}

static void group(void)
{
	pid_t leader = 0, member[3];

	for (int i = 0; i < 3; i++) {
		member[i] = child(computes_long, &leader);
		leader = leader ? leader : member[0];
		CHECK(setpgid(member[i], leader) == 0 || errno == EACCES);
	}
	CHECK(getpgid(member[2]) == leader && killpg(leader, SIGTERM) == 0);
	for (int i = 0; i < 3; i++) {
		siginfo_t info = {0};
		CHECK(waitid(P_PGID, (id_t)leader, &info, WEXITED) == 0);
		CHECK(info.si_code == CLD_KILLED && info.si_status == SIGTERM);
	}
}

static int ends_soon(void *arg)
{
	work(5000);
	return 43;
}

static void told_by_sigchld(void)
{
	struct sigaction sa = {.sa_sigaction = on_chld, .sa_flags = SA_SIGINFO};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaction(SIGCHLD, &sa, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid_t pid = child(ends_soon, NULL);
	while (!n_chld)
		sigsuspend(&usual);
	CHECK(chld_code == CLD_EXITED && chld_status == 43);
	ends_with(pid, 43);
	sa.sa_flags = SA_RESTART | SA_SIGINFO;
	sigaction(SIGCHLD, &sa, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	pid = child(ends_soon, NULL);
	ends_with(pid, 43); /* the signal does not interrupt it */
	CHECK(n_chld == 2);
	signal(SIGCHLD, SIG_DFL);
}

static int interrupts(void *arg)
{
	usleep(30000);
	kill(getppid(), SIGUSR1);
	usleep(30000);
	return write(((int *)arg)[1], "z", 1) == 1 ? 44 : 1;
}

static void interrupted(void)
{
	struct sigaction sa = {.sa_handler = on_usr1};
	int fds[2];
	char b;

	got = 0;
	sigaction(SIGUSR1, &sa, NULL);
	sigprocmask(SIG_SETMASK, &usual, NULL);
	CHECK(pipe(fds) == 0);
	pid_t pid = child(interrupts, fds);
	CHECK(read(fds[0], &b, 1) == -1 && errno == EINTR && got == 1);
	CHECK(read(fds[0], &b, 1) == 1 && b == 'z');
	ends_with(pid, 44);
}

static int orphan(void *arg)
{
	int *fds = arg;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		CHECK(prctl(PR_SET_PDEATHSIG, SIGUSR2) == 0 && getppid() == parent);
		CHECK(write(fds[1], "r", 1) == 1);
		CHECK(sigwait(&set, &sig) == 0 && sig == SIGUSR2);
		_exit(write(fds[1], "d", 1) != 1);
	}
	char b;
	return read(fds[0], &b, 1) == 1 && b == 'r' ? 45 : 1;
}

static void death_of_parent(void)
{
	int fds[2], status;
	char b;

	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && pipe(fds) == 0);
	ends_with(child(orphan, fds), 45);
	CHECK(read(fds[0], &b, 1) == 1 && b == 'd');
	CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(wait(&status) == -1 && errno == ECHILD);
}

int main(void)
{
	struct sigaction sa = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaction(SIGUSR1, &sa, NULL);
	sigprocmask(SIG_BLOCK, &set, &usual);
	ping_pong();
	queue();
	group();
	told_by_sigchld();
	interrupted();
	death_of_parent();
	DONE();
}
