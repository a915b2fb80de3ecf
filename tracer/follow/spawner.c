/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/follow/spawner.h"

#include "tracer/memory/shared_lock_page.h"
#include "tracer/state/actions.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	GIVEN = sizeof(struct lz_spawned) / sizeof(int),
	FIRST_FREE = LZ_SHARED_LOCK_FD + 1,
	N_STOPS = 3 /* signals that stop the group */
};

/* With room for the descriptors, and the CPU of who asks. */
struct message {
	struct msghdr head;
	struct iovec one;
	int cpu;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(GIVEN * sizeof(int))];
	} control;
};

struct spawner {
	int in;
	pid_t first;
	bool alone;      /* the first tracer has gone */
	int cpu;         /* of who asked last */
	cpu_set_t given; /* CPUs */
	struct lz_action was[N_STOPS];
	const struct lz_next_tracer *next;
};

static struct msghdr *prepare(struct message *m)
{
	*m = (struct message){.head = {.msg_iov = &m->one,
	                               .msg_iovlen = 1,
	                               .msg_control = m->control.bytes,
	                               .msg_controllen = sizeof(m->control.bytes)},
	                      .one = {&m->cpu, sizeof(m->cpu)}};
	return &m->head;
}

int lz_spawner_ask(const struct lz_spawned *given)
{
	struct message m;
	struct msghdr *head = prepare(&m);
	struct cmsghdr *c = CMSG_FIRSTHDR(head);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(*given));
	memcpy(CMSG_DATA(c), given, sizeof(*given));
	m.cpu = sched_getcpu();
	return sendmsg(given->spawner, head, MSG_NOSIGNAL) == sizeof(m.cpu)
	           ? 0
	           : lz_fail_errno("cannot start another tracer");
}

/* ---- requests ---- */

/* Those that have come, though there was no room for all: who asks sees then that they are closed. */
static void refuse(const struct cmsghdr *c)
{
	int fd;

	for (size_t at = 0; c && CMSG_LEN(at + sizeof(fd)) <= c->cmsg_len; at += sizeof(fd)) {
		memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
		close(fd);
	}
}

/* 1; 0: nobody can ask any more; -1: none has come. */
static int take_request(int in, struct lz_spawned *given, int *cpu)
{
	struct message m;
	struct msghdr *head = prepare(&m);
	const ssize_t n = recvmsg(in, head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(head) : NULL;

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN) ? -1 : 0;
	if (!c || c->cmsg_len != CMSG_LEN(sizeof(*given))) {
		refuse(c);
		return -1;
	}
	*cpu = m.cpu;
	memcpy(given, CMSG_DATA(c), sizeof(*given));
	return 1;
}

/* As take_request(), but what has come stays there. */
static int look_for_request(int in, int *cpu)
{
	const ssize_t n = recv(in, cpu, sizeof(*cpu), MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return 1;
	return n < 0 && (errno == EINTR || errno == EAGAIN) ? -1 : 0;
}

/* ---- the next tracer ---- */

/* Where the process is that is to be taken: another CPU would first have to wake up, and knows nothing of
 * what both have in their memory. The tracer chooses its own one later. */
static void stay_at(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	if (cpu >= 0)
		CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int move_up(int fd)
{
	const int up = fd >= FIRST_FREE ? fd : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);

	if (up != fd)
		close(fd);
	return up;
}

/* The shared memory lock is known by its number. */
static int put_in_place(struct lz_spawned *given)
{
	int *fd[] = {&given->state, &given->news, &given->spawner, &given->shared_lock};

	for (unsigned i = 0; i < GIVEN; i++)
		if ((*fd[i] = move_up(*fd[i])) < 0)
			return -1;
	const int lock = dup3(given->shared_lock, LZ_SHARED_LOCK_FD, O_CLOEXEC);
	close(given->shared_lock);
	return given->shared_lock = lock;
}

/* Nothing that is opened before may be there. */
static int keep_place(void)
{
	if (fcntl(LZ_SHARED_LOCK_FD, F_GETFD) >= 0)
		return 0;
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0 && null != LZ_SHARED_LOCK_FD)
		close(null);
	return null == LZ_SHARED_LOCK_FD ? 0 : -1;
}

static const int stops[N_STOPS] = {SIGTSTP, SIGTTIN, SIGTTOU};

/* What comes while it waits is for the whole group, and is ignored. The rest is for who traces. */
static void stop_with_group(const struct spawner *s)
{
	for (size_t i = 0; i < N_STOPS; i++)
		lz_action(stops[i], &s->was[i], NULL);
}

/* 1: there is a request; 0: none will come, or the spawner is gone. */
static int wait_to_be_asked(int in, int line, struct lz_spawned *given, int *cpu)
{
	struct pollfd p[] = {{in, POLLIN, 0}, {line, POLLIN, 0}};
	int asked = -1;
	char alone;

	while (asked < 0) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents && recv(line, &alone, sizeof(alone), 0) <= 0)
			return 0;
		if (p[1].revents)
			lz_descriptors_silence();
		if (p[0].revents)
			asked = take_request(in, given, cpu);
	}
	return asked;
}

/* It ignores signals: what comes for the whole group before it can handle them must not end it. */
static _Noreturn void be_next(const struct spawner *s, int line, bool asked)
{
	struct lz_spawned given;
	int cpu = s->cpu;

	signal(SIGCHLD, SIG_DFL);
	lz_ignore(SIGUSR1);
	lz_block(0);
	prctl(PR_SET_PDEATHSIG, 0);
	prctl(PR_SET_NAME, "lizard-follow");
	if (!asked && keep_place() == 0)
		s->next->prepare();
	stay_at(cpu);
	if (wait_to_be_asked(s->in, line, &given, &cpu) <= 0) {
		s->next->drop();
		_exit(0);
	}
	if (cpu != s->cpu)
		stay_at(cpu);
	stop_with_group(s);
	send(line, &cpu, sizeof(cpu), MSG_NOSIGNAL);
	close(line);
	close(s->in);
	const bool done = put_in_place(&given) >= 0 && s->next->trace(&given) == 0;
	fflush(NULL);
	_exit(done ? 0 : 1);
}

/* ---- the spawner ---- */

static void wake_up(int sig)
{
}

/* Signals to the whole group are ignored: those that are blocked would pile up. The kernel says when the
 * first tracer has gone, and when one has that was spawned. */
static void begin(struct spawner *s)
{
	const struct sigaction act = {.sa_handler = wake_up};

	for (size_t i = 0; i < N_STOPS; i++)
		lz_action(stops[i], NULL, &s->was[i]);
	for (int signo = 1; signo < LZ_SIGNALS; signo++)
		if (signo != SIGKILL && signo != SIGSTOP)
			lz_ignore(signo);
	lz_block(lz_signal_bit(SIGCHLD) | lz_signal_bit(SIGUSR1));
	sigaction(SIGCHLD, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	prctl(PR_SET_NAME, "lizard-spawner");
	lz_descriptors_drop();
}

/* So the time that they took counts as ours, and the first tracer's. */
static void reap(int how)
{
	while (waitpid(-1, NULL, how) > 0)
		;
}

/* For one of N. LINE: to the next tracer, -1: there is none. False: PATIENCE is over. */
static bool wait_for(struct spawner *s, struct pollfd *p, nfds_t n, const struct timespec *patience,
                     int line)
{
	sigset_t none;

	if (!s->alone && getppid() != s->first) {
		s->alone = true;
		lz_descriptors_silence();
		if (line >= 0)
			send(line, "", 1, MSG_NOSIGNAL);
	}
	reap(WNOHANG);
	sigemptyset(&none);
	return ppoll(p, n, patience, &none);
}

static void wait_to_be_needed(struct spawner *s)
{
	struct pollfd p = {s->in, POLLIN, 0};

	wait_for(s, &p, 1, NULL, -1);
}

/* A line to *NEXT, which ends when it is not the next one any more; -1. */
static int make_next(struct spawner *s, bool asked, pid_t *next)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	/* What nobody waits for yet is made wherever there is time. */
	if (asked)
		stay_at(s->cpu);
	const pid_t pid = *next = fork();
	if (pid == 0) {
		close(ends[0]);
		be_next(s, ends[1], asked);
	}
	if (asked)
		sched_setaffinity(0, sizeof(s->given), &s->given);
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

static void turn_down(struct spawner *s)
{
	struct lz_spawned given;

	if (take_request(s->in, &given, &s->cpu) <= 0)
		return;
	close(given.state);
	close(given.news);
	close(given.shared_lock);
	close(given.spawner);
}

/* Until it has been asked for, or is gone. Where it waits, somebody may be busy who does not let it run: then
 * it may use any CPU. */
static void watch_next(struct spawner *s, pid_t next, int line)
{
	static const struct timespec soon = {0, 2000000};
	bool asked = false, bound = true;

	do {
		struct pollfd p[] = {{line, POLLIN, 0}, {asked ? -1 : s->in, POLLIN, 0}};

		if (!wait_for(s, p, 2, asked && bound ? &soon : NULL, line))
			bound = sched_setaffinity(next, sizeof(s->given), &s->given) < 0;
		asked |= p[1].revents != 0;
	} while (recv(line, &s->cpu, sizeof(s->cpu), MSG_DONTWAIT) < 0);
	close(line);
}

/* The first one is made when it is asked for, since many programs start no others. Each further one is there
 * before. */
static _Noreturn void serve(struct spawner *s)
{
	pid_t next;
	int asked;

	begin(s);
	sched_getaffinity(0, sizeof(s->given), &s->given);
	do
		wait_to_be_needed(s);
	while ((asked = look_for_request(s->in, &s->cpu)) < 0);
	while (asked) {
		const int line = make_next(s, asked > 0, &next);

		if (line >= 0)
			watch_next(s, next, line);
		else if (asked > 0)
			turn_down(s);
		else
			wait_to_be_needed(s);
		asked = look_for_request(s->in, &s->cpu);
	}
	reap(0);
	_exit(0);
}

int lz_spawner_begin(const struct lz_next_tracer *next, pid_t *spawner)
{
	const pid_t first = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return lz_fail_errno("cannot start another tracer");
	const pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		serve(&(struct spawner){.in = ends[1], .first = first, .cpu = -1, .next = next});
	}
	close(ends[1]);
	*spawner = pid;
	if (pid > 0 && (ends[0] = move_up(ends[0])) >= 0)
		return ends[0];
	return lz_fail_errno("cannot start another tracer");
}
