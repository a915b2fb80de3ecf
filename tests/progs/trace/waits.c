/* Calls that may wait, again and again, so that they are tried without waiting: argv[1] says which. */
#define _GNU_SOURCE
#include "kinds.h"
#include "caught.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { ROUNDS = 30 };
#define FAILS(error, call) SEE((call) == -1 && errno == (error))

static char *const bad = (char *)16;
static void tcp(int s[2])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	SEE(bind(l, (void *)&a, n) == 0 && listen(l, 5) == 0 &&
	    getsockname(l, (void *)&a, &n) == 0);
	s[0] = socket(AF_INET, SOCK_STREAM, 0);
	SEE(connect(s[0], (void *)&a, n) == 0 && (s[1] = accept(l, NULL, NULL)) >= 0);
	close(l);
}

/* A process that reads all from FD, slowly. */
static pid_t drain(int fd, int other)
{
	pid_t child = fork();
	char b[3000];

	if (child)
		return child;
	close(other);
	while (read(fd, b, sizeof(b)) > 0)
		usleep(300);
	_exit(7);
}

static void drained(pid_t child)
{
	int status;

	SEE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

/* A write that waits is whole, however little room there is when it begins. */
static void whole(int s[2])
{
	static char b[20000];
	struct iovec io[3] = {{b, 1000}, {b + 5000, 7000}, {b, 3}};
	struct msghdr m = {.msg_iov = io, .msg_iovlen = 3};
	pid_t child = drain(s[1], s[0]);
	struct stat st;

	close(s[1]);
	for (int i = 0; i < ROUNDS; i++) {
		/* there is some room now */
		usleep(1000);
		SEE(write(s[0], b, sizeof(b)) == (ssize_t)sizeof(b));
		usleep(1000);
		SEE(write(s[0], b, 1500) == 1500);
		SEE(writev(s[0], io, 3) == 8003);
		SEE(fstat(s[0], &st) == 0);
		if (!S_ISSOCK(st.st_mode))
			continue;
		SEE(send(s[0], b, 9000, 0) == 9000);
		SEE(sendmsg(s[0], &m, 0) == 8003);
	}
	close(s[0]);
	drained(child);
}

static void writes(void)
{
	int s[2], small = 8192;

	SEE(pipe(s) == 0);
	SEE(dup2(s[0], 100) == 100 && dup2(s[1], s[0]) == s[0] && dup2(100, s[1]) == s[1]);
	close(100);
	whole(s);
	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	whole(s);
	tcp(s);
	SEE(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)) == 0);
	SEE(setsockopt(s[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) == 0);
	whole(s);
}

/* One that does not wait gives what there is room for. */
static void nonblocking(void)
{
	static char b[60000];
	int p[2], s[2];

	SEE(pipe2(p, O_NONBLOCK) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		FAILS(EAGAIN, read(p[0], b, 10));
		FAILS(EAGAIN, recv(s[0], b, 10, 0));
		SEE(write(p[1], b, 60000) == 60000);
		SEE(write(p[1], b, 60000) == 4096);
		FAILS(EAGAIN, write(p[1], b, 60000));
		SEE(read(p[0], b, 60000) == 60000 && read(p[0], b, 60000) == 4096);
		while (write(s[1], b, 60000) > 0)
			;
		SEE(errno == EAGAIN);
		while (read(s[0], b, 60000) > 0)
			;
		SEE(errno == EAGAIN);
		SEE(fcntl(s[0], F_SETFL, 0) == 0);
		FAILS(EAGAIN, recv(s[0], b, 10, MSG_DONTWAIT));
		SEE(fcntl(s[0], F_SETFL, O_NONBLOCK) == 0);
	}
}

/* The signal comes before the call is over, and once. */
static void broken(void)
{
	int p[2], s[2];

	signal(SIGPIPE, count);
	SEE(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	for (int i = 0; i < ROUNDS; i++)
		SEE(write(p[1], "x", 1) == 1 && write(s[1], "x", 1) == 1);
	close(p[0]), close(s[0]);
	for (int i = 0; i < ROUNDS; i++) {
		FAILS(EPIPE, write(p[1], "x", 1));
		SEE(caught == 2 * i + 1);
		FAILS(EPIPE, send(s[1], "x", 1, 0));
		SEE(caught == 2 * i + 2);
		FAILS(EPIPE, send(s[1], "x", 1, MSG_NOSIGNAL));
		SEE(caught == 2 * i + 2);
	}
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < ROUNDS; i++)
		FAILS(EPIPE, write(p[1], "x", 1));
	signal(SIGPIPE, SIG_DFL);
	fflush(stdout);
	if (fork() == 0) {
		write(p[1], "x", 1);
		_exit(3);
	}
	int status;
	SEE(wait(&status) > 0 && WTERMSIG(status) == SIGPIPE);
}

/* What the kernel has not been asked yet finds bad pointers, too. */
static void faults(void)
{
	struct pollfd *p =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int s[2], e = epoll_create1(0);
	struct msghdr m = {.msg_iov = (void *)bad, .msg_iovlen = 2}, nowhere = {0};
	struct epoll_event ev = {.events = EPOLLIN};
	struct iovec io[2] = {{bad, 4}, {bad, 4}};
	char b[8];

	SEE(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0 &&
	    epoll_ctl(e, EPOLL_CTL_ADD, s[0], &ev) == 0);
	p->fd = s[0], p->events = POLLIN;
	SEE(mprotect(p, 4096, PROT_READ) == 0);
	nowhere.msg_iov = io, nowhere.msg_iovlen = 2;
	for (int i = 0; i < ROUNDS; i++) {
		SEE(send(s[1], "abc", 3, 0) == 3 && send(s[1], "def", 3, 0) == 3);
		SEE(send(s[1], "ghi", 3, 0) == 3 && send(s[1], "last", 4, 0) == 4);
		FAILS(EFAULT, syscall(SYS_poll, bad, 1, 1000));
		FAILS(EFAULT, syscall(SYS_poll, p, 1, 1000));
		FAILS(EFAULT, syscall(SYS_select, s[0] + 1, bad, NULL, NULL, NULL));
		FAILS(EFAULT, syscall(SYS_futex, bad, 0, 5, NULL, NULL, 0));
		FAILS(EFAULT, syscall(SYS_epoll_wait, e, bad, 1, -1));
		FAILS(EFAULT, recvmsg(s[0], (void *)bad, 0));
		FAILS(EFAULT, recvmsg(s[0], &m, 0));
		FAILS(EFAULT, sendmsg(s[1], &m, 0));
		FAILS(EFAULT, readv(s[0], (void *)bad, 1));
		/* these have taken a message */
		FAILS(EFAULT, read(s[0], bad, 3));
		FAILS(EFAULT, readv(s[0], io, 2));
		FAILS(EFAULT, recvmsg(s[0], &nowhere, 0));
		SEE(recv(s[0], b, 8, 0) == 4 && !memcmp(b, "last", 4));
		FAILS(EBADF, read(999, b, 8));
	}
}

/* What a socket is told to wait for. */
static void patience(void)
{
	struct timeval soon = {0, 20000};
	int s[2], two = 2, status;
	char b[8];

	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	SEE(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon)) == 0);
	for (int i = 0; i < 5; i++) {
		SEE(write(s[1], "x", 1) == 1 && read(s[0], b, 8) == 1);
		double since = now();
		FAILS(EAGAIN, read(s[0], b, 8));
		SEE(now() - since > 0.015);
	}
	tcp(s);
	for (int i = 0; i < ROUNDS; i++)
		SEE(write(s[1], "x", 1) == 1 && read(s[0], b, 8) == 1);
	SEE(setsockopt(s[0], SOL_SOCKET, SO_RCVLOWAT, &two, sizeof(two)) == 0);
	if (fork() == 0) {
		usleep(50000);
		write(s[1], "yz", 2);
		_exit(0);
	}
	SEE(write(s[1], "x", 1) == 1 && read(s[0], b, 8) == 3);
	SEE(wait(&status) > 0);
	SEE(send(s[1], "z", 1, 0) == 1 && send(s[1], "abc", 3, 0) == 3);
	SEE(recv(s[0], b, 4, MSG_WAITALL) == 4);
}

/* A signal that a call lets through meanwhile. */
static void masks(void)
{
	struct timespec none = {0}, some = {1, 0};
	sigset_t usr1, no_signal;
	struct pollfd p;
	fd_set set;
	int q[2];

	signal(SIGUSR1, count);
	sigemptyset(&no_signal), sigemptyset(&usr1), sigaddset(&usr1, SIGUSR1);
	SEE(sigprocmask(SIG_BLOCK, &usr1, NULL) == 0 && pipe(q) == 0);
	p = (struct pollfd){q[0], POLLIN, 0};
	for (int i = 0; i < ROUNDS; i++) {
		SEE(write(q[1], "x", 1) == 1);
		SEE(ppoll(&p, 1, &some, &no_signal) == 1 && caught == i);
		FD_ZERO(&set);
		FD_SET(q[0], &set);
		SEE(pselect(q[0] + 1, &set, NULL, NULL, &some, &no_signal) == 1 && caught == i);
		SEE(read(q[0], &set, 1) == 1);
		SEE(ppoll(&p, 1, &none, NULL) == 0);
		raise(SIGUSR1);
		FAILS(EINTR, ppoll(&p, 1, NULL, &no_signal));
		SEE(caught == i + 1);
	}
}

static void messages(void)
{
	char b[2][20], control[64];
	struct iovec io[2] = {{b[0], 3}, {b[1], 20}};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
	                   from;
	socklen_t n = sizeof(to);
	int r = socket(AF_INET, SOCK_DGRAM, 0), s = socket(AF_INET, SOCK_DGRAM, 0), one = 1;

	SEE(bind(r, (void *)&to, n) == 0 && getsockname(r, (void *)&to, &n) == 0);
	SEE(setsockopt(r, SOL_SOCKET, SO_TIMESTAMP, &one, sizeof(one)) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct msghdr m = {.msg_name = &from,
		                   .msg_namelen = sizeof(from),
		                   .msg_iov = io,
		                   .msg_iovlen = 2,
		                   .msg_control = control,
		                   .msg_controllen = sizeof(control)};
		memset(b, 0, sizeof(b));
		SEE(sendto(s, "0123456789", 10, 0, (void *)&to, n) == 10);
		SEE(recvmsg(r, &m, 0) == 10 && !memcmp(b[0], "012", 3) &&
		    !memcmp(b[1], "3456789", 8));
		SEE(m.msg_namelen == sizeof(from) && from.sin_family == AF_INET);
		SEE(CMSG_FIRSTHDR(&m)->cmsg_type == SO_TIMESTAMP);
		m = (struct msghdr){
		    .msg_name = &to, .msg_namelen = n, .msg_iov = io, .msg_iovlen = 2};
		SEE(sendmsg(s, &m, 0) == 23 && recv(r, b, 5, MSG_TRUNC) == 23);
		SEE(sendmsg(s, &m, 0) == 23 && recv(r, b, 5, MSG_PEEK) == 5 && read(r, b, 5) == 5);
		SEE(sendto(s, "", 0, 0, (void *)&to, n) == 0 && recv(r, b, 5, 0) == 0);
	}
}

/* ---- threads ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn, at[2], back[2];

static void *partner(void *arg)
{
	char c;

	for (int i = 0; i < 20 * ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != 1)
			pthread_cond_wait(&cond, &mutex);
		turn = 0;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
		while (read(at[0], &c, 1) < 0)
			SEE(errno == EINTR);
		SEE(write(back[1], &c, 1) == 1);
	}
	return NULL;
}

enum { HANDS = 500 };

static void *hands_back(void *arg)
{
	char c;

	for (int i = 0; i < HANDS; i++)
		SEE(read(at[0], &c, 1) == 1 && write(back[1], &c, 1) == 1);
	return arg;
}

/* Nothing but reads that wait while the other thread is ready. */
static void hands(void)
{
	pthread_t other;

	SEE(pipe(at) == 0 && pipe(back) == 0);
	SEE(pthread_create(&other, NULL, hands_back, NULL) == 0);
	for (int i = 0; i < HANDS; i++) {
		char c = (char)i, d = 0;
		SEE(write(at[1], &c, 1) == 1 && read(back[0], &d, 1) == 1 && c == d);
	}
	pthread_join(other, NULL);
}

static int post_is_near;

/* With all signals blocked that can be. */
static void *wait_for_post(void *semaphore)
{
	sigset_t all;

	sigfillset(&all);
	SEE(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	SEE(sem_wait(semaphore) == 0 && __atomic_load_n(&post_is_near, __ATOMIC_SEQ_CST));
	return NULL;
}

/* So long that the recorder lets the kernel wait for the other thread. */
static void blocked(void)
{
	volatile unsigned computed = 0;
	pthread_t other;
	sem_t s;

	handle(SIGSYS, 0);
	SEE(sem_init(&s, 0, 0) == 0 && pthread_create(&other, NULL, wait_for_post, &s) == 0);
	for (double end = now() + 0.3; now() < end;)
		for (int i = 0; i < 1000000; i++)
			computed += i;
	__atomic_store_n(&post_is_near, 1, __ATOMIC_SEQ_CST);
	SEE(sem_post(&s) == 0 && pthread_join(other, NULL) == 0);
}

static volatile int stolen_over;

static void *wait_for_events(void *arg)
{
	struct epoll_event e;
	const int fd = epoll_create1(0);

	while (!stolen_over)
		SEE(epoll_wait(fd, &e, 1, 9) == 0 || errno == EINTR);
	close(fd);
	return arg;
}

/* A signal to the process interrupts one thread's wait, and another one takes it. Some are ignored. */
static void stolen(void)
{
	enum { WAIT = 8 };
	static const int sent[] = {SIGUSR1, SIGWINCH, SIGURG};
	const struct itimerval often = {{0, 2300}, {0, 2300}}, never = {{0}};
	volatile unsigned computed = 0;
	const pid_t all = getpid();
	pthread_t t[WAIT];
	pid_t child;

	handle(SIGUSR1, SA_RESTART);
	handle(SIGALRM, SA_RESTART);
	signal(SIGURG, SIG_IGN);
	if ((child = fork()) == 0)
		for (unsigned i = 0; kill(all, sent[i % 3]) == 0; i++)
			usleep(1100);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < WAIT; i++)
		SEE(pthread_create(&t[i], NULL, wait_for_events, NULL) == 0);
	for (double end = now() + 1.5; now() < end; usleep(300)) {
		for (int i = 0; i < 100000; i++)
			computed += i;
		kill(all, sent[computed % 3]);
		pthread_kill(t[computed % WAIT], SIGURG);
	}
	stolen_over = 1;
	setitimer(ITIMER_REAL, &never, NULL);
	SEE(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
	for (int i = 0; i < WAIT; i++)
		SEE(pthread_join(t[i], NULL) == 0);
}

static int has_ended;

/* The kernel writes what is left of the time, again and again. */
static void *wait_for_little(void *unused)
{
	sigset_t none;

	sigemptyset(&none);
	while (!__atomic_load_n(&has_ended, __ATOMIC_SEQ_CST)) {
		struct timespec a = {0, 20000000}, b = a;
		struct timeval c = {0, 20000};

		SEE(syscall(SYS_ppoll, NULL, 0, &a, &none, 8) == 0);
		SEE(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &b, NULL) == 0);
		SEE(syscall(SYS_select, 0, NULL, NULL, NULL, &c) == 0);
	}
	return unused;
}

/* Signals that are ignored interrupt waits that have a time, which others do not notice. */
static void remaining(void)
{
	volatile unsigned computed = 0;
	sigset_t all;
	pthread_t other;

	sigfillset(&all);
	SEE(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	SEE(pthread_create(&other, NULL, wait_for_little, NULL) == 0);
	for (int i = 0; i < 200; i++) {
		SEE(pthread_kill(other, SIGWINCH) == 0);
		for (int k = 0; k < 3000000; k++)
			computed += k;
		usleep(500);
	}
	__atomic_store_n(&has_ended, 1, __ATOMIC_SEQ_CST);
	SEE(pthread_join(other, NULL) == 0);
}

static void threads(void)
{
	struct itimerval often = {{0, 1500}, {0, 1500}};
	struct sigaction act = {.sa_handler = count, .sa_flags = SA_RESTART};
	pthread_t other;

	SEE(pipe(at) == 0 && pipe(back) == 0 && sigaction(SIGALRM, &act, NULL) == 0);
	SEE(setitimer(ITIMER_REAL, &often, NULL) == 0);
	SEE(pthread_create(&other, NULL, partner, NULL) == 0);
	for (int i = 0; i < 20 * ROUNDS; i++) {
		char c = (char)i, d = 0;
		struct pollfd p = {back[0], POLLIN, 0};

		pthread_mutex_lock(&mutex);
		while (turn != 0)
			pthread_cond_wait(&cond, &mutex);
		turn = 1;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
		SEE(write(at[1], &c, 1) == 1);
		while (poll(&p, 1, 5000) != 1)
			SEE(errno == EINTR);
		SEE(read(back[0], &d, 1) == 1 && c == d);
	}
	pthread_join(other, NULL);
	SEE(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL) == 0);
}

/* A number is another file's. */
static void reused(void)
{
	int p[2], s[2];
	char b[8];

	for (int i = 0; i < ROUNDS; i++) {
		SEE(pipe(p) == 0 && write(p[1], "abc", 3) == 3 && read(p[0], b, 8) == 3);
		SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
		SEE(dup2(s[0], p[0]) == p[0] && write(s[1], "de", 2) == 2);
		SEE(recv(p[0], b, 8, 0) == 2);
		close(p[0]);
		SEE(open("/dev/null", O_RDONLY) == p[0] && read(p[0], b, 8) == 0);
		FAILS(ENOTSOCK, recv(p[0], b, 8, 0));
		close(p[0]), close(p[1]), close(s[0]), close(s[1]);
	}
}

/* A socket is closed at once, unless it lingers: LINGERING of them do. */
static void closes(void)
{
	enum { LINGERING = 60 };
	static const struct linger lingers = {1, 20};
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int null = open("/dev/null", O_RDONLY);
	char b[2];
	int s[2];

	for (int i = 0; i < 50; i++) {
		int one = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);

		SEE(connect(one, (void *)&a, sizeof(a)) == 0 && close(one) == 0);
		SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && dup2(s[1], other) == other);
		SEE(close(s[1]) == 0 && write(other, "x", 1) == 1 && close(other) == 0);
		SEE(read(s[0], b, 2) == 1 && read(s[0], b, 2) == 0 && close(s[0]) == 0);
		SEE(close(s[0]) == -1 && errno == EBADF);
	}
	for (int i = 0; i < LINGERING; i++) {
		int one = socket(AF_INET, SOCK_STREAM, 0);

		SEE(setsockopt(one, SOL_SOCKET, SO_LINGER, &lingers, sizeof(lingers)) == 0);
		SEE(i % 2 ? close(one) == 0 : dup2(null, one) == one && close(one) == 0);
	}
}

/* Nothing but work, for one who kills. */
static void forever(void)
{
	int s[2];
	char b[8];

	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	for (;;)
		SEE(send(s[0], "abc", 3, 0) == 3 && read(s[1], b, 8) == 3);
}

int main(int argc, char **argv)
{
	static const struct kind all[] = {
	    {"writes", writes},     {"nonblocking", nonblocking}, {"broken", broken},
	    {"faults", faults},     {"patience", patience},       {"masks", masks},
	    {"messages", messages}, {"threads", threads},         {"hands", hands},
	    {"reused", reused},     {"closes", closes},           {"blocked", blocked},
	    {"stolen", stolen},     {"remaining", remaining},     {"forever", forever}};

	return run_kind(all, sizeof(all) / sizeof(*all), argv[1]);
}
