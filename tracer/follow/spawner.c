/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/follow/spawner.h"

#include "tracer/memory/shared_lock_page.h"
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
#include <unistd.h>

enum { GIVEN = sizeof(struct lz_spawned) / sizeof(int), FIRST_FREE = LZ_SHARED_LOCK_FD + 1 };

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

/* ---- the spawner ---- */

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
static int take_request(int in, struct lz_spawned *given)
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
	stay_at(m.cpu);
	memcpy(given, CMSG_DATA(c), sizeof(*given));
	return 1;
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

/* It begins with all signals blocked: what comes for the whole group before it can handle them must not
 * end it. */
static void spawn(int in, struct lz_spawned *given, int (*trace)(const struct lz_spawned *given))
{
	if (fork() == 0) {
		close(in);
		signal(SIGCHLD, SIG_DFL);
		signal(SIGUSR1, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, 0);
		prctl(PR_SET_NAME, "lizard-follow");
		const bool done = put_in_place(given) >= 0 && trace(given) == 0;
		fflush(NULL);
		_exit(done ? 0 : 1);
	}
	close(given->state);
	close(given->news);
	close(given->shared_lock);
	close(given->spawner);
}

static void wake_up(int sig)
{
}

/* The kernel says when the first tracer has gone, and when one has that was spawned. */
static void begin(void)
{
	const struct sigaction act = {.sa_handler = wake_up};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(SIGCHLD, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	prctl(PR_SET_NAME, "lizard-spawner");
	lz_descriptors_drop();
}

static void wait_for_request(int in)
{
	struct pollfd p = {in, POLLIN, 0};
	sigset_t others;

	sigfillset(&others);
	sigdelset(&others, SIGCHLD);
	sigdelset(&others, SIGUSR1);
	ppoll(&p, 1, NULL, &others);
}

/* So the time that they took counts as ours, and the first tracer's. */
static void reap(int how)
{
	while (waitpid(-1, NULL, how) > 0)
		;
}

static void serve(int in, pid_t first, int (*trace)(const struct lz_spawned *given))
{
	struct lz_spawned given;
	bool alone = false;
	int ret;

	begin();
	do {
		if (!alone && getppid() != first) {
			alone = true;
			lz_descriptors_silence();
		}
		wait_for_request(in);
		reap(WNOHANG);
		ret = take_request(in, &given);
		if (ret > 0)
			spawn(in, &given, trace);
	} while (ret);
	reap(0);
	_exit(0);
}

int lz_spawner_begin(int (*trace)(const struct lz_spawned *given), pid_t *spawner)
{
	const pid_t first = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return lz_fail_errno("cannot start another tracer");
	const pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		serve(ends[1], first, trace);
	}
	close(ends[1]);
	*spawner = pid;
	if (pid > 0 && (ends[0] = move_up(ends[0])) >= 0)
		return ends[0];
	return lz_fail_errno("cannot start another tracer");
}
