/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals that end calls which wait for somebody outside, or come meanwhile: argv[1] says which. */
#define _GNU_SOURCE
#include "asleep.h"

/* ---- signals ---- */

/* Sends SIGNO every US microseconds, until it is killed. */
static pid_t sender(int signo, unsigned us)
{
	pid_t child = fork();

	while (!child)
		if (usleep(us) < 0 || kill(getppid(), signo) < 0)
			_exit(1);
	return child;
}

static void silence(pid_t child)
{
	SEE(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
}

static void interrupted(void)
{
	struct epoll_event ev = {.events = EPOLLIN}, out;
	int p[2], e = epoll_create1(0);
	struct pollfd f;
	pid_t child;
	char b;

	handle(SIGUSR1, 0), handle(SIGUSR2, SA_RESTART);
	SEE(pipe(p) == 0 && epoll_ctl(e, EPOLL_CTL_ADD, p[0], &ev) == 0);
	f = (struct pollfd){p[0], POLLIN, 0};
	for (int i = 0; i < ROUNDS; i++)
		SEE(write(p[1], &b, 1) == 1 && read(p[0], &b, 1) == 1);
	child = sender(SIGUSR1, 5000);
	for (int i = 0; i < 20; i++) {
		FAILS(EINTR, read(p[0], &b, 1));
		FAILS(EINTR, poll(&f, 1, 60000));
		FAILS(EINTR, epoll_wait(e, &out, 1, -1));
	}
	silence(child);
	SEE(caught >= 20 * 3);
	/* it goes on after the handler */
	child = sender(SIGUSR2, 5000);
	for (int i = caught; i + 10 > caught;) {
		if (!fork())
			_exit(usleep(20000) < 0 || write(p[1], "e", 1) != 1);
		SEE(read(p[0], &b, 1) == 1 && b == 'e');
	}
	silence(child);
	ended_well();
}

/* ---- waits with a signal mask ---- */

static sigset_t let_in, shut_out;
static struct pollfd masked_poll;
static int masked_epoll;

/* Each kind of such a wait, with no time if SOME is NULL. */
static int wait_masked(int kind, const sigset_t *mask, const struct timespec *some)
{
	struct pollfd *f = &masked_poll;
	struct epoll_event out;
	fd_set in = set_of(f->fd, f->fd);

	switch (kind % 4) {
	case 0: return ppoll(f, 1, some, mask);
	case 1: return pselect(f->fd + 1, &in, NULL, NULL, some, mask);
	case 2:
		return epoll_pwait(masked_epoll, &out, 1,
		                   some ? some->tv_sec * 1000 + some->tv_nsec / 1000000 : -1, mask);
	default: return syscall(SYS_epoll_pwait2, masked_epoll, &out, 1, some, mask, 8);
	}
}

static void begin_masked(int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	sigemptyset(&let_in), sigemptyset(&shut_out), sigaddset(&shut_out, SIGUSR1);
	masked_poll = (struct pollfd){fd, POLLIN, 0};
	masked_epoll = epoll_create1(0);
	SEE(epoll_ctl(masked_epoll, EPOLL_CTL_ADD, fd, &ev) == 0);
	SEE(sigprocmask(SIG_BLOCK, &shut_out, NULL) == 0);
}

static void masks(void)
{
	const struct timespec none = {0}, brief = {0, 1000000}, long_one = {60, 0};
	char b;

	begin(1);
	begin_masked(s[0]);
	handle(SIGUSR1, 0), handle(SIGUSR2, 0);
	for (int i = 0; i < ROUNDS; i++) {
		SEE(ask() && wait_masked(i, &let_in, i % 8 < 4 ? NULL : &long_one) == 1);
		SEE(read(s[0], &b, 1) == 1 && wait_masked(i, &let_in, &none) == 0);
		SEE(wait_masked(i, &let_in, &brief) == 0 && caught == i);
		/* it comes in the next wait that lets it in, and that does not wait */
		SEE(kill(getpid(), SIGUSR1) == 0 && wait_masked(i, &shut_out, &brief) == 0);
		SEE(caught == i);
		/* epoll does not look for signals if it is not to wait */
		FAILS(EINTR, wait_masked(i, &let_in, i % 4 < 2 && i % 3 ? &none : NULL));
		SEE(caught == i + 1);
	}
	end();
}

/* Somebody outside sends a signal that only the wait lets in, or that it keeps out. */
static void masks_interrupted(void)
{
	const struct timespec some = {0, 20000000};
	pid_t child;
	int p[2];

	SEE(pipe(p) == 0);
	begin_masked(p[0]);
	handle(SIGUSR1, 0), handle(SIGUSR2, SA_RESTART);
	for (int i = 0; i < ROUNDS; i++)
		SEE(wait_masked(i, &let_in, &(struct timespec){0, 100000}) == 0);
	child = sender(SIGUSR1, 3000);
	for (int i = 0; i < 40; i++) {
		const int before = caught;

		FAILS(EINTR, wait_masked(i, &let_in, NULL));
		SEE(caught > before);
		const int then = caught;
		for (int k = 0; k < 1000; k++)
			getppid();
		SEE(caught == then);
	}
	silence(child);
	/* and a timer's */
	struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0}};
	sigaddset(&shut_out, SIGALRM);
	handle(SIGALRM, 0);
	SEE(sigprocmask(SIG_BLOCK, &shut_out, NULL) == 0);
	SEE(setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (int i = 0; i < 40; i++) {
		const int before = caught;

		FAILS(EINTR, wait_masked(i, &let_in, NULL));
		SEE(caught > before);
	}
	SEE(setitimer(ITIMER_REAL, &never, NULL) == 0);
	sigaddset(&shut_out, SIGUSR2);
	child = sender(SIGUSR2, 3000);
	for (int i = 0; i < 40; i++)
		SEE(wait_masked(i, &shut_out, &some) == 0);
	silence(child);
}

/* A signal that is let in and has no effect ends nothing; and a child that ends does. */
static void masks_children(void)
{
	sigset_t chld;
	int p[2];

	SEE(pipe(p) == 0);
	begin_masked(p[0]);
	sigemptyset(&chld), sigaddset(&chld, SIGCHLD);
	SEE(sigprocmask(SIG_BLOCK, &chld, NULL) == 0);
	handle(SIGCHLD, 0);
	for (int i = 0; i < 60; i++) {
		const pid_t child = fork();

		if (!child)
			_exit(usleep(5000) < 0);
		for (int k = 0; k < 30; k++)
			getppid();
		FAILS(EINTR, wait_masked(i, &let_in, NULL));
		SEE(caught == i + 1 && waitpid(child, NULL, WNOHANG) == child);
	}
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < 20; i++) {
		const struct timespec some = {0, 10000000};
		const pid_t child = fork();

		if (!child)
			_exit(usleep(5000) < 0);
		for (int k = 0; k < 30; k++)
			getppid();
		/* with a tracer, epoll ends all the same */
		SEE(wait_masked(i % 2, &let_in, &some) == 0 && caught == 60);
		SEE(waitpid(child, NULL, 0) == child);
	}
}

/* The same of calls that wait themselves, and a handler for children. */
static void interrupted_inside(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), status;
	pid_t child, sends;

	SEE(bind(l, (void *)&a, n) == 0 && listen(l, 5) == 0);
	SEE(getsockname(l, (void *)&a, &n) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		if ((child = fork()) == 0)
			_exit(0);
		SEE(waitpid(child, NULL, 0) == child);
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		SEE(connect(fd, (void *)&a, n) == 0 && close(accept(l, NULL, NULL)) == 0);
		close(fd);
	}
	handle(SIGUSR1, 0);
	if ((child = fork()) == 0)
		for (;;)
			pause();
	sends = sender(SIGUSR1, 5000);
	for (int i = 0; i < 20; i++) {
		FAILS(EINTR, accept(l, NULL, NULL));
		FAILS(EINTR, waitpid(child, &status, 0));
		FAILS(EINTR, waitid(P_PID, (id_t)child, NULL, WEXITED));
	}
	silence(sends);
	SEE(caught >= 20 * 3);
	handle(SIGUSR1, SA_RESTART);
	sends = sender(SIGUSR1, 5000);
	if (!fork())
		_exit(usleep(100000) < 0 || kill(child, SIGTERM) < 0 ||
		      connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&a, n) < 0);
	SEE(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGTERM);
	SEE(accept(l, NULL, NULL) >= 0);
	silence(sends);
	ended_well();
	/* a child's end is told twice */
	caught = 0;
	handle(SIGCHLD, 0);
	for (int i = 0; i < ROUNDS; i++) {
		if ((child = fork()) == 0)
			_exit(usleep(1000) < 0);
		SEE(waitpid(child, NULL, 0) == child);
		getppid();
	}
	SEE(caught == ROUNDS);
}

/* A signal of no effect ends nothing, and the time goes on. */
static void ignored(void)
{
	struct pollfd p = {-1, POLLIN, 0};
	struct epoll_event out;
	int e = epoll_create1(0);
	double since;
	pid_t child;

	signal(SIGUSR1, SIG_IGN);
	for (int i = 0; i < ROUNDS; i++)
		SEE(poll(&p, 1, 1) == 0 && epoll_wait(e, &out, 1, 1) == 0);
	child = sender(SIGUSR1, 10000);
	since = now();
	SEE(poll(&p, 1, 400) == 0 && now() - since >= 0.4);
	silence(child);
	if (!fork())
		_exit(usleep(200000) < 0 || kill(getppid(), SIGUSR1) < 0);
	since = now();
	SEE(epoll_wait(e, &out, 1, 400) == 0 && now() - since >= 0.4);
	ended_well();
}

/* For SECONDS, or what is left of these. */
static double slept(double seconds, int result, struct timespec *left)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	const double since = now();

	SEE(nanosleep(&t, left) == result);
	return now() - since;
}

static void kill_parent_after(useconds_t us, int signo)
{
	if (!fork())
		_exit(usleep(us) < 0 || kill(getppid(), signo) < 0);
}

static void *sleeper(void *arg)
{
	return slept(0.9, 0, NULL) >= 0.9 ? arg : NULL;
}

/* A sleep goes on for the rest of its time, whoever has ended a part. */
static void sleeps(void)
{
	struct timespec t, left = {7, 7};
	pthread_t th;
	double took;

	for (int i = 0; i < ROUNDS; i++) {
		SEE(slept(0.001, 0, &left) >= 0.001 && left.tv_sec == 7);
		SEE(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
		t.tv_nsec += 1000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		SEE(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0);
		SEE(now() >= (double)t.tv_sec + (double)t.tv_nsec / 1e9);
		SEE(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0);
	}
	handle(SIGUSR1, 0), signal(SIGUSR2, SIG_IGN);
	kill_parent_after(300000, SIGUSR1);
	took = slept(1, -1, &left);
	SEE(errno == EINTR && caught == 1 && left.tv_sec == 0 && took >= 0.25);
	SEE(left.tv_nsec > 0 && (double)left.tv_nsec / 1e9 <= 1 - took + 0.1);
	kill_parent_after(800000, SIGUSR2);
	took = slept(1, 0, &left);
	SEE(took >= 1 && took < 1.7);
	SEE(pthread_create(&th, NULL, sleeper, &left) == 0);
	took = slept(1, 0, &left);
	SEE(took >= 1 && took < 1.8);
	SEE(pthread_join(th, NULL) == 0);
	ended_well();
}

static void stopped(void)
{
	char b;

	begin(1);
	for (int i = 0; i < ROUNDS; i++)
		SEE(ask() && read(s[0], &b, 1) == 1);
	if (!fork()) {
		for (int i = 0; i < 10; i++)
			if (usleep(3000) < 0 || kill(getppid(), SIGSTOP) < 0 || usleep(3000) < 0 ||
			    kill(getppid(), SIGCONT) < 0)
				_exit(1);
		_exit(write(s[0], "z", 1) != 1);
	}
	for (int i = 0; i < ROUNDS; i++)
		SEE(ask() && read(s[0], &b, 1) == 1);
	SEE(read(s[0], &b, 1) == 1);
	end();
}
int main(int argc, char **argv)
{
	static const struct kind all[] = {{"interrupted_inside", interrupted_inside},
	                                  {"interrupted", interrupted},
	                                  {"masks", masks},
	                                  {"masks_interrupted", masks_interrupted},
	                                  {"masks_children", masks_children},
	                                  {"ignored", ignored},
	                                  {"stopped", stopped},
	                                  {"sleeps", sleeps}};

	return run_kind(all, sizeof(all) / sizeof(*all), argv[1]);
}
