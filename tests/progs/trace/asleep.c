/* Calls that wait for somebody outside: argv[1] says which, and what ends it. */
#define _GNU_SOURCE
#include "kinds.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { ROUNDS = 100 };
#define FAILS(error, call) SEE((call) == -1 && errno == (error))

static int s[2];
static volatile sig_atomic_t caught;
static void count(int signo)
{
	caught++;
}

static void handle(int signo, int flags)
{
	struct sigaction act = {.sa_handler = count, .sa_flags = flags};

	SEE(sigaction(signo, &act, NULL) == 0);
}

static void ended_well(void)
{
	int status;

	while (wait(&status) > 0)
		SEE(status == 0);
}

/* Somebody outside who answers each byte with N, after a while. */
static void begin(int n)
{
	char b[8] = "answers";

	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	if (fork()) {
		close(s[1]);
		return;
	}
	close(s[0]);
	while (read(s[1], b, 1) == 1) {
		usleep(500);
		if (write(s[1], b, (size_t)n) != n)
			_exit(1);
	}
	_exit(0);
}

static void end(void)
{
	close(s[0]);
	ended_well();
}

static bool ask(void)
{
	return write(s[0], "a", 1) == 1;
}

/* ---- each kind ---- */

static void reads(void)
{
	struct iovec io[2] = {{(char[1]){0}, 1}, {(char[2]){0}, 2}};
	struct msghdr m = {.msg_iov = io, .msg_iovlen = 2};
	char b[8];

	begin(3);
	for (int i = 0; i < ROUNDS; i++) {
		SEE(ask() && read(s[0], b, 8) == 3 && b[0] == 'a');
		SEE(ask() && readv(s[0], io, 2) == 3);
		SEE(ask() && recv(s[0], b, 8, 0) == 3);
		SEE(ask() && recvmsg(s[0], &m, 0) == 3);
	}
	end();
}

static void polls(void)
{
	struct pollfd p[2] = {{-1, POLLIN, 9}, {0, POLLIN | POLLPRI, 9}};
	char b;

	begin(1);
	p[1].fd = s[0];
	for (int i = 0; i < ROUNDS; i++) {
		SEE(ask() && poll(p, 2, -1) == 1 && !p[0].revents && p[1].revents == POLLIN);
		SEE(read(s[0], &b, 1) == 1);
		SEE(ask() && poll(p, 2, 60000) == 1 && p[1].revents == POLLIN);
		SEE(read(s[0], &b, 1) == 1);
		SEE(ask() && ppoll(p, 2, NULL, NULL) == 1 && p[1].revents == POLLIN);
		SEE(read(s[0], &b, 1) == 1);
	}
	end();
}

static fd_set set_of(int a, int b)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(a, &set);
	FD_SET(b, &set);
	return set;
}

/* Without a time, and with one. */
static void selects(void)
{
	struct timespec much = {60, 0};
	fd_set in, out;
	char b;
	int p[2];

	begin(1);
	SEE(pipe(p) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct timeval time = {60, 0};
		in = set_of(s[0], p[0]);
		SEE(ask() && select(40, &in, NULL, NULL, NULL) == 1);
		SEE(FD_ISSET(s[0], &in) && !FD_ISSET(p[0], &in) && read(s[0], &b, 1) == 1);
		in = set_of(s[0], p[0]), out = set_of(p[0], p[0]);
		SEE(ask() && syscall(SYS_pselect6, 40, &in, &out, NULL, NULL, NULL) == 1);
		SEE(FD_ISSET(s[0], &in) && !FD_ISSET(p[0], &in) && !FD_ISSET(p[0], &out));
		in = set_of(p[0], p[0]);
		SEE(read(s[0], &b, 1) == 1 && ask());
		out = set_of(s[0], p[0]);
		SEE(select(40, &out, NULL, &in, &time) == 1 && time.tv_sec >= 50 &&
		    time.tv_sec < 60);
		SEE(FD_ISSET(s[0], &out) && !FD_ISSET(p[0], &in) && read(s[0], &b, 1) == 1);
		in = set_of(s[0], p[0]);
		SEE(ask() && pselect(40, &in, NULL, NULL, &much, NULL) == 1);
		SEE(read(s[0], &b, 1) == 1);
	}
	end();
}

static void epolls(void)
{
	enum { MANY = 10000 };
	static struct epoll_event many[MANY];
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = 77}, out[2];
	int e = epoll_create1(0);
	char b;

	begin(1);
	SEE(epoll_ctl(e, EPOLL_CTL_ADD, s[0], &ev) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		SEE(ask() && epoll_wait(e, out, 2, -1) == 1 && out[0].data.u64 == 77);
		SEE(read(s[0], &b, 1) == 1 && epoll_wait(e, out, 2, 0) == 0);
		SEE(ask() && epoll_wait(e, out, 2, 60000) == 1 && out[0].events == EPOLLIN);
		SEE(read(s[0], &b, 1) == 1);
		SEE(ask() && epoll_pwait(e, out, 2, -1, NULL) == 1);
		SEE(read(s[0], &b, 1) == 1);
		SEE(ask() && epoll_wait(e, many, MANY, -1) == 1 && many[0].data.u64 == 77);
		SEE(read(s[0], &b, 1) == 1);
	}
	end();
}

/* What is written waits for room. */
static void writes(void)
{
	static char b[4096];
	int p[2], q[2];

	SEE(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, q) == 0);
	if (!fork()) {
		close(p[1]), close(q[1]);
		for (int i = 0; i < 3 * ROUNDS; i++)
			if (usleep(300) < 0 || read(p[0], b, 4096) != 4096 ||
			    read(q[0], b, 4096) != 2000)
				_exit(1);
		_exit(read(p[0], b, 1) != 0);
	}
	close(p[0]), close(q[0]);
	for (int i = 0; i < 3 * ROUNDS; i++)
		SEE(write(p[1], b, 4096) == 4096 && send(q[1], b, 2000, 0) == 2000);
	close(p[1]);
	ended_well();
}

/* ---- time ---- */

static void times(void)
{
	struct timeval soon = {0, 20000};
	struct epoll_event out;
	int e = epoll_create1(0);
	struct pollfd p;
	char b[8];

	begin(1);
	p = (struct pollfd){s[0], POLLIN, 9};
	for (int i = 0; i < ROUNDS; i++)
		SEE(ask() && read(s[0], b, 8) == 1);
	for (int i = 0; i < ROUNDS / 10; i++) {
		double since = now();
		SEE(poll(&p, 1, 20) == 0 && !p.revents && now() - since >= 0.02);
		since = now();
		SEE(epoll_wait(e, &out, 1, 20) == 0 && now() - since >= 0.02);
		since = now();
		SEE(poll(NULL, 0, 20) == 0 && now() - since >= 0.02);
	}
	SEE(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon)) == 0);
	for (int i = 0; i < ROUNDS / 10; i++) {
		double since = now();
		FAILS(EAGAIN, read(s[0], b, 8));
		FAILS(EAGAIN, recv(s[0], b, 8, 0));
		SEE(now() - since >= 0.035);
	}
	end();
}

static double computed(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A checkpoint comes due while it waits, if there is to be one each 200 ms. */
static void late(void)
{
	for (int i = 0; i < ROUNDS; i++)
		SEE(poll(NULL, 0, 1) == 0);
	for (int i = 0; i < 3; i++) {
		double since = computed();
		while (computed() - since < 0.212)
			for (volatile int k = 0; k < 1000000; k++)
				;
		since = now();
		SEE(poll(NULL, 0, 1500) == 0 && now() - since >= 1.5 && now() - since < 2.8);
	}
}

/* The kernel does not say what is left of a time. */
static void sticky(void)
{
	SEE(personality(STICKY_TIMEOUTS) != -1);
	late();
}

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

/* ---- threads ---- */

static volatile int looks;

static void *looker(void *arg)
{
	for (int i = 0; i < 50; i++) {
		usleep(1000);
		looks++;
	}
	SEE(write(s[0], "a", 1) == 1);
	return arg;
}

/* One that is ready gets its turn while another one waits. */
static void others(void)
{
	pthread_t th;
	char b;

	begin(1);
	for (int i = 0; i < ROUNDS; i++)
		SEE(ask() && read(s[0], &b, 1) == 1);
	for (int i = 1; i <= 5; i++) {
		SEE(pthread_create(&th, NULL, looker, NULL) == 0);
		for (int k = 0; k < 10; k++)
			SEE(ask() && read(s[0], &b, 1) == 1);
		SEE(read(s[0], &b, 1) == 1 && looks == 50 * i);
		SEE(pthread_join(th, NULL) == 0);
	}
	end();
}

static void *waker(void *arg)
{
	for (int i = 0; i < 12; i++)
		usleep(30000);
	return arg;
}

static void others_times(void)
{
	struct epoll_event out;
	int e = epoll_create1(0);
	pthread_t th;

	for (int i = 0; i < ROUNDS; i++)
		SEE(epoll_wait(e, &out, 1, 1) == 0 && poll(NULL, 0, 1) == 0);
	for (int i = 0; i < 2; i++) {
		SEE(pthread_create(&th, NULL, waker, NULL) == 0);
		for (int k = 0; k < 10; k++)
			SEE(epoll_wait(e, &out, 1, 1) == 0 && poll(NULL, 0, 1) == 0);
		double since = now();
		SEE((i ? epoll_wait(e, &out, 1, 300) : poll(NULL, 0, 300)) == 0);
		SEE(now() - since >= 0.3);
		SEE(pthread_join(th, NULL) == 0);
	}
}

static volatile bool waits;

static void *reader(void *arg)
{
	char b;

	for (int i = 0; i < ROUNDS; i++)
		SEE(ask() && read(s[0], &b, 1) == 1);
	waits = true;
	SEE(read(s[0], &b, 1) == 1);
	return NULL;
}

static void cancelled(void)
{
	void *result;
	pthread_t th;

	begin(1);
	for (int i = 0; i < 5; i++) {
		waits = false;
		SEE(pthread_create(&th, NULL, reader, NULL) == 0);
		/* an answer that nobody has read would be the next one's */
		while (!waits)
			usleep(100000);
		usleep(100000);
		SEE(pthread_cancel(th) == 0 && pthread_join(th, &result) == 0);
		SEE(result == PTHREAD_CANCELED);
	}
	end();
}

static char *self;

static void *replacer(void *arg)
{
	usleep(100000);
	if (!fork())
		_exit(0);
	ended_well();
	execl(self, self, "nothing", NULL);
	return arg;
}

/* Another thread forks, and becomes another program. */
static void replaced(void)
{
	pthread_t th;
	char b;
	int p[2];

	SEE(pipe(p) == 0);
	for (int i = 0; i < ROUNDS; i++)
		SEE(write(p[1], &b, 1) == 1 && read(p[0], &b, 1) == 1);
	SEE(pthread_create(&th, NULL, replacer, NULL) == 0);
	for (int i = 0; i < 10; i++)
		SEE(poll(NULL, 0, 1) == 0);
	SEE(read(p[0], &b, 1) == 1);
}

static void nothing(void)
{
}

/* ---- filters ---- */

/* A program whose filter does not let it call what would be called for it. */
static void filtered(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ppoll, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog filter = {4, code};

	SEE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	SEE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
	reads();
}

/* ---- its end ---- */

/* Waits nearly all the time, for one who kills or lets go. */
static void forever(void)
{
	char b;

	begin(1);
	for (;;)
		SEE(ask() && read(s[0], &b, 1) == 1);
}

/* There is much to be written down, and then it waits. */
static void large(void)
{
	static char b[1 << 16];
	int p[2];

	SEE(pipe(p) == 0);
	if (!fork())
		_exit(usleep(1500000) < 0 || write(p[1], "l", 1) != 1);
	for (int i = 0; i < 100; i++)
		SEE(getrandom(b, sizeof(b), 0) == sizeof(b) && write(p[1], b, 1) == 1 &&
		    read(p[0], b, 1) == 1);
	SEE(read(p[0], b, 1) == 1 && b[0] == 'l');
	ended_well();
}

int main(int argc, char **argv)
{
	static const struct kind all[] = {{"reads", reads},         {"polls", polls},
	                                  {"epolls", epolls},       {"writes", writes},
	                                  {"times", times},         {"late", late},
	                                  {"sticky", sticky},       {"interrupted", interrupted},
	                                  {"selects", selects},     {"ignored", ignored},
	                                  {"stopped", stopped},     {"sleeps", sleeps},
	                                  {"others", others},       {"others_times", others_times},
	                                  {"cancelled", cancelled}, {"replaced", replaced},
	                                  {"nothing", nothing},     {"filtered", filtered},
	                                  {"forever", forever},     {"large", large}};

	self = argv[0];
	return run_kind(all, sizeof(all) / sizeof(*all), argv[1]);
}
