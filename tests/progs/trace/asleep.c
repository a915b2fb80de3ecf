/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that wait for somebody outside: argv[1] says which. Beside other threads, too. */
#define _GNU_SOURCE
#include "asleep.h"

static char *self;

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

/* What is left of a time that was WHOLE, when at most TOOK of it have passed. */
static bool is_rest(double whole, double took, double rest)
{
	return rest < whole && rest >= whole - took - 1e-6;
}

/* A time in memory tells what is left of it. */
static void rests(void)
{
	static const struct timeval fixed = {0, 20000};
	fd_set in;
	char b;

	begin(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct timeval time = {60, 999999};
		struct timespec much = {60, 0}, more = {60, 999999999};
		struct pollfd p = {s[0], POLLIN, 9};
		double since = now();
		in = set_of(s[0], s[0]);
		SEE(ask() && syscall(SYS_select, 40, &in, NULL, NULL, &time) == 1);
		SEE(is_rest(60.999999, now() - since, (double)time.tv_sec + time.tv_usec / 1e6));
		SEE(FD_ISSET(s[0], &in) && read(s[0], &b, 1) == 1);
		since = now();
		SEE(ask() && syscall(SYS_pselect6, 40, &in, NULL, NULL, &much, NULL) == 1);
		SEE(is_rest(60, now() - since, (double)much.tv_sec + much.tv_nsec / 1e9));
		SEE(read(s[0], &b, 1) == 1);
		since = now();
		SEE(ask() && syscall(SYS_ppoll, &p, 1, &more, NULL, 8) == 1);
		SEE(is_rest(60.999999999, now() - since, (double)more.tv_sec + more.tv_nsec / 1e9));
		SEE(p.revents == POLLIN && read(s[0], &b, 1) == 1);
	}
	for (int i = 0; i < ROUNDS / 5; i++) {
		struct timeval time = {0, 20000};
		struct timespec more = {0, 20000000};
		double since = now();
		in = set_of(s[0], s[0]);
		SEE(syscall(SYS_select, 40, &in, NULL, NULL, &time) == 0);
		SEE(!FD_ISSET(s[0], &in));
		SEE(time.tv_sec == 0 && time.tv_usec == 0 && now() - since >= 0.02);
		since = now();
		SEE(syscall(SYS_ppoll, NULL, 0, &more, NULL, 8) == 0);
		SEE(more.tv_sec == 0 && more.tv_nsec == 0 && now() - since >= 0.02);
	}
	for (int i = 0; i < 3; i++) {
		struct timeval time = {60, 0};
		double since = now();
		in = set_of(s[0], s[0]);
		if (!fork())
			_exit(usleep(50000) < 0 || write(s[0], "l", 1) != 1);
		SEE(syscall(SYS_select, 40, &in, NULL, NULL, &time) == 1);
		SEE(is_rest(60 - 0.04, now() - since, (double)time.tv_sec + time.tv_usec / 1e6));
		SEE(read(s[0], &b, 1) == 1);
	}
	/* where it cannot be stored */
	SEE(syscall(SYS_select, 0, NULL, NULL, NULL, &fixed) == 0 && fixed.tv_usec == 20000);
	end();
}

/* Connections that are made, and taken, after a while. */
static void accepts(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), fd;
	char b;

	SEE(bind(l, (void *)&a, n) == 0 && listen(l, 5) == 0 &&
	    getsockname(l, (void *)&a, &n) == 0);
	if (!fork()) {
		for (int i = 0; i < ROUNDS; i++) {
			fd = socket(AF_INET, SOCK_STREAM, 0);
			if (usleep(1000) < 0 || connect(fd, (void *)&a, n) < 0 ||
			    read(fd, &b, 1) != 1 || close(fd) < 0)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		struct sockaddr_in from = {0};
		socklen_t len = sizeof(from);
		fd = i % 2 ? accept(l, (void *)&from, &len) : accept4(l, NULL, NULL, SOCK_CLOEXEC);
		SEE(fd >= 0 && (i % 2 == 0 || from.sin_addr.s_addr == htonl(INADDR_LOOPBACK)));
		SEE(write(fd, "a", 1) == 1 && close(fd) == 0);
	}
	close(l);
	ended_well();
}

/* A server that has room for few takes one connection after the other, slowly. */
static void connects(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0lizard-"};
	int l = socket(AF_UNIX, SOCK_STREAM, 0), fd[ROUNDS];

	snprintf(a.sun_path + 8, 20, "%d", (int)getpid());
	SEE(bind(l, (void *)&a, sizeof(a)) == 0 && listen(l, 1) == 0);
	if (!fork()) {
		for (int i = 0; i < ROUNDS; i++)
			if (usleep(1000) < 0 || close(accept(l, NULL, NULL)) < 0)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		fd[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		SEE(connect(fd[i], (void *)&a, sizeof(a)) == 0);
	}
	for (int i = 0; i < ROUNDS; i++)
		close(fd[i]);
	close(l);
	ended_well();
}

static void *const bad = (void *)16;

/* Waits until the other end is closed. */
static bool is_let_through(const int gate[2])
{
	char c;

	close(gate[1]);
	return read(gate[0], &c, 1) == 0;
}

/* Children that end after a while. */
static void children(void)
{
	struct rusage used;
	siginfo_t info;
	int status, gate[2];
	pid_t child;

	for (int i = 0; i < ROUNDS; i++) {
		SEE(pipe(gate) == 0);
		if ((child = fork()) == 0)
			_exit(is_let_through(gate) && usleep(2000) == 0 ? i % 50 : 99);
		status = 77, memset(&info, 7, sizeof(info));
		if (i % 2)
			close(gate[1]);
		switch (i % 4) {
		case 0:
			SEE(waitpid(child, &status, WNOHANG) == 0 && status == 77);
			close(gate[1]);
			SEE(wait4(child, &status, 0, &used) == child &&
			    WEXITSTATUS(status) == i % 50);
			SEE(used.ru_maxrss > 0);
			break;
		case 1: SEE(wait(NULL) == child); break;
		case 2:
			SEE(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG) == 0 &&
			    !info.si_pid);
			close(gate[1]);
			SEE(waitid(P_PID, (id_t)child, &info, WEXITED) == 0);
			SEE(info.si_pid == child && info.si_status == i % 50 &&
			    info.si_code == CLD_EXITED);
			SEE(((char *)&info)[12] == 7 && ((char *)&info)[127] == 7);
			break;
		case 3:
			SEE(waitid(P_ALL, 0, NULL, WEXITED | WNOWAIT) == 0);
			SEE(waitpid(-1, &status, 0) == child && WEXITSTATUS(status) == i % 50);
		}
		close(gate[0]);
		FAILS(ECHILD, wait(&status));
		FAILS(ECHILD, waitid(P_ALL, 0, &info, WEXITED));
		SEE(!info.si_pid && !info.si_signo);
	}
	/* it is gone all the same */
	for (int i = 0; i < 3; i++) {
		if ((child = fork()) == 0)
			_exit(usleep(2000) < 0);
		FAILS(EFAULT, wait4(child, bad, 0, NULL));
		FAILS(ECHILD, wait4(child, bad, 0, NULL));
	}
}

/* SIGCHLD's handler has run when the wait for the child is over. */
static void handled(void)
{
	pid_t child;
	int status;

	handle(SIGCHLD, SA_RESTART);
	for (int i = 0; i < ROUNDS; i++) {
		const int before = caught;
		if ((child = fork()) == 0)
			_exit(usleep(1000) < 0);
		SEE(i % 2 ? waitpid(child, &status, 0) == child && status == 0
		          : waitid(P_PID, (id_t)child, NULL, WEXITED) == 0);
		SEE(caught == before + 1);
	}
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

/* What is left of a minute is told where nothing has to be waited for, too, unless it is KEPT. */
static void ready(bool kept)
{
	const long least = kept ? 60 : 59;
	int p[2];
	fd_set in;

	SEE(pipe(p) == 0 && write(p[1], "r", 1) == 1);
	for (int i = 0; i < ROUNDS; i++) {
		struct timeval time = {60, 0};
		struct timespec much = {60, 0}, more = {60, 0};
		struct pollfd ask = {p[0], POLLIN, 9};
		in = set_of(p[0], p[0]);
		SEE(syscall(SYS_select, 40, &in, NULL, NULL, &time) == 1);
		SEE(time.tv_sec == least && (time.tv_usec == 0) == kept);
		SEE(syscall(SYS_pselect6, 40, &in, NULL, NULL, &much, NULL) == 1);
		SEE(much.tv_sec == least && (much.tv_nsec == 0) == kept);
		SEE(syscall(SYS_ppoll, &ask, 1, &more, NULL, 8) == 1 && ask.revents == POLLIN);
		SEE(more.tv_sec == least && (more.tv_nsec == 0) == kept);
	}
	close(p[0]), close(p[1]);
}

/* The kernel does not say what is left of a time: nor does it to a child, and to what that executes. */
static void sticky(void)
{
	if (personality(0xffffffff) & STICKY_TIMEOUTS) {
		SEE(freopen("/dev/null", "w", stdout));
		ready(true);
		return;
	}
	ready(false);
	SEE(personality(STICKY_TIMEOUTS) != -1);
	ready(true);
	if (!fork()) {
		ready(true);
		execl(self, self, "sticky", NULL);
	}
	ended_well();
	late();
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

/* The same where the other one waits in its call itself, or tells what is left of a time. */
static void others_inside(void)
{
	pthread_t th;
	pid_t child;

	for (int i = 0; i < ROUNDS; i++) {
		if ((child = fork()) == 0)
			_exit(usleep(1000) < 0);
		SEE(waitpid(child, NULL, 0) == child);
	}
	for (int i = 1; i <= 6; i++) {
		struct timeval time = {0, 300000};
		struct timespec more = {0, 300000000};
		double since = now();
		if (i % 3 == 0 && (child = fork()) == 0)
			_exit(usleep(300000) < 0);
		SEE(pthread_create(&th, NULL, waker, NULL) == 0);
		switch (i % 3) {
		case 0: SEE(waitpid(child, NULL, 0) == child); break;
		case 1:
			SEE(syscall(SYS_select, 0, NULL, NULL, NULL, &time) == 0 && !time.tv_usec);
			break;
		case 2: SEE(ppoll(NULL, 0, &more, NULL) == 0); break;
		}
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
	pid_t child;
	char b;

	begin(1);
	for (;;) {
		SEE(ask() && read(s[0], &b, 1) == 1);
		if ((child = fork()) == 0)
			_exit(usleep(2000) < 0);
		SEE(waitpid(child, NULL, 0) == child);
	}
}

/* There is much to be written down, and then it waits. */
static void large(void)
{
	static char b[1 << 16];
	int p[2];

	SEE(pipe(p) == 0);
	if (!fork())
		_exit(usleep(2500000) < 0 || write(p[1], "l", 1) != 1);
	for (int i = 0; i < 100; i++)
		SEE(getrandom(b, sizeof(b), 0) == sizeof(b) && write(p[1], b, 1) == 1 &&
		    read(p[0], b, 1) == 1);
	SEE(read(p[0], b, 1) == 1 && b[0] == 'l');
	ended_well();
}
int main(int argc, char **argv)
{
	static const struct kind all[] = {
	    {"reads", reads},         {"polls", polls},
	    {"rests", rests},         {"accepts", accepts},
	    {"connects", connects},   {"children", children},
	    {"handled", handled},     {"others_inside", others_inside},
	    {"epolls", epolls},       {"writes", writes},
	    {"times", times},         {"late", late},
	    {"sticky", sticky},       {"selects", selects},
	    {"others", others},       {"others_times", others_times},
	    {"cancelled", cancelled}, {"replaced", replaced},
	    {"nothing", nothing},     {"filtered", filtered},
	    {"forever", forever},     {"large", large}};

	self = argv[0];
	return run_kind(all, sizeof(all) / sizeof(*all), argv[1]);
}
