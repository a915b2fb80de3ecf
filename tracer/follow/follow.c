/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handing a process over to another tracer. */
#include "tracer/calls/calls.h"
#include "tracer/calls/filter.h"
#include "tracer/follow/follow.h"
#include "tracer/follow/handover.h"
#include "tracer/memory/shared_lock_page.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"

#include <common/base/array.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Told by one tracer to the first one. */
struct news {
	pid_t pid;
	int running; /* 1: has been handed over; -1: is gone */
};

enum {
	GRACE_MS = 1000, /* the first process has ended: how long others may take to do so */
	TAKE_MS = 20000  /* how long a tracer may take to begin */
};

/* ---- who is followed ---- */

static bool matches(const char *pattern, pid_t pid)
{
	char path[64], exe[PATH_MAX], comm[32] = "";
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = 0;
	if (strchr(pattern, '/'))
		return fnmatch(pattern, exe, 0) == 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = 0;
	if (f)
		fclose(f);
	const char *slash = strrchr(exe, '/');
	/* a script is known by its own name, not by its interpreter's only */
	return fnmatch(pattern, slash ? slash + 1 : exe, 0) == 0 || fnmatch(pattern, comm, 0) == 0;
}

int lz_follow_kind(const struct lz_tracer *t, pid_t pid, bool exec)
{
	const char *follow = t->opt->follow;

	if (!follow)
		return -1;
	if (strcmp(follow, "all") != 0 && !matches(follow, pid))
		return LZ_HANDOVER_WATCH;
	return exec ? LZ_HANDOVER_EXEC : LZ_HANDOVER_FORK;
}

int lz_exec_exit(struct lz_proc *c)
{
	pid_t pid = c->pid;
	int status;

	if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0 || lz_proc_wait(pid, &status) < 0 ||
	    !WIFSTOPPED(status))
		return lz_fail("process %d is gone", (int)pid);
	lz_proc_close(c);
	if (lz_proc_open(c, pid) < 0)
		return -1;
	return lz_find_syscall(c);
}

/* ---- the next tracer ---- */

static int keep(struct lz_follow *f, pid_t tracer, pid_t process)
{
	if (lz_reserve(f->next, f->room, f->n + 1) < 0)
		return lz_fail("out of memory for the list of tracers");
	f->next[f->n++] = (struct lz_next){.tracer = tracer, .process = process};
	return 0;
}

static int start(struct lz_follow *f, int state, int shared_lock, pid_t process)
{
	char state_text[16], news_text[16];
	char *argv[] = {"lizard", "trace", "--handed-over", state_text, news_text, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all;
	pid_t pid;

	snprintf(state_text, sizeof(state_text), "%d", state);
	snprintf(news_text, sizeof(news_text), "%d", f->out);
	posix_spawn_file_actions_init(&files);
	/* onto itself: what is passed on */
	posix_spawn_file_actions_adddup2(&files, state, state);
	posix_spawn_file_actions_adddup2(&files, f->out, f->out);
	posix_spawn_file_actions_adddup2(&files, shared_lock, LZ_SHARED_LOCK_FD);
	/* what comes for the whole group before it can handle signals must not end it */
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attr, &all);
	bool could = lz_counter_allow(true);
	int e = posix_spawn(&pid, "/proc/self/exe", &files, &attr, argv, environ);
	lz_counter_allow(could);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	errno = e;
	return e ? lz_fail_errno("cannot start another tracer") : keep(f, pid, process);
}

static void fill(const struct lz_tracer *t, pid_t pid, struct lz_handover *h)
{
	h->pid = pid;
	h->parent = (pid_t)t->tid;
	h->parent_event = t->next_event;
	h->affinity = t->borrowed.given;
	h->old_personality = t->borrowed.personality;
	h->personality_set = t->borrowed.personality_set;
	h->shared_lock = LZ_SHARED_LOCK_FD;
	h->opt = *t->opt;
	lz_cpuid_cache_get(&h->cpuid);
	lz_machine_get(&h->machine);
	h->opt.argv = NULL;
	h->opt.dir = h->opt.follow = NULL;
	snprintf(h->follow, sizeof(h->follow), "%s", t->opt->follow);
	snprintf(h->root, sizeof(h->root), "%s", t->follow.root);
}

/* The other one goes on when this end is closed. */
static int pass(const struct lz_tracer *t, int end, const struct lz_handover *h)
{
	struct news news = {h->pid, 1};

	if (send(end, h, sizeof(*h), MSG_NOSIGNAL) != sizeof(*h))
		return lz_fail_errno("cannot hand process %d over", (int)h->pid);
	if (lz_filters_send(t->cur, end) < 0)
		return -1;
	if (write(t->follow.out, &news, sizeof(news)) < 0)
		lz_debug("no room for news of process %d", (int)h->pid);
	return 0;
}

/* Above the one that is the shared memory lock in the next tracer. */
static int move_up(int *fd)
{
	int up = *fd > LZ_SHARED_LOCK_FD ? *fd : fcntl(*fd, F_DUPFD_CLOEXEC, LZ_SHARED_LOCK_FD + 1);

	if (up < 0)
		return -1;
	if (up != *fd)
		close(*fd);
	*fd = up;
	return 0;
}

/* For the handover; the next tracer's end comes first. */
static int channel(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
		if (move_up(&ends[0]) == 0)
			return 0;
		close(ends[0]);
		close(ends[1]);
	}
	return lz_fail_errno("cannot start another tracer");
}

int lz_hand_over(struct lz_tracer *t, struct lz_proc *c, struct lz_handover *h)
{
	int ends[2], ret = 0;

	fill(t, c->pid, h);
	if (channel(ends) < 0)
		return lz_go_unrecorded(c, NULL);
	/* It is there before the process is parked: should this tracer be killed in between, the
	 * other one goes on. */
	bool is_started = start(&t->follow, ends[0], t->shared_lock.fd, c->pid) == 0,
	     is_parked = false;
	close(ends[0]);
	if (is_started) {
		is_parked = lz_park(c, &h->was) == 0;
		t->follow.next[t->follow.n - 1].was = h->was;
	}
	if (is_parked && pass(t, ends[1], h) == 0)
		ret = ptrace(PTRACE_DETACH, c->pid, 0, 0);
	else if (!lz_proc_has_ended(c->pid))
		ret = lz_go_unrecorded(c, is_parked ? &h->was : NULL);
	close(ends[1]);
	return ret < 0 && !lz_proc_has_ended(c->pid) ? -1 : 0;
}

/* ---- the first tracer ---- */

int lz_follow_begin(struct lz_tracer *t)
{
	int fds[2];

	t->follow.in = t->follow.out = -1;
	if (!t->opt->follow)
		return 0;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0 || move_up(&fds[1]) < 0)
		return lz_fail_errno("cannot make a pipe");
	t->follow.in = fds[0];
	t->follow.out = fds[1];
	t->follow.root = strdup(lz_writer_dir(t->w));
	return t->follow.root ? lz_shared_lock_make(&t->shared_lock) : lz_fail("out of memory");
}

/* 1: all tracers have finished. */
static int read_news(struct lz_follow *f)
{
	struct news news;
	ssize_t n;

	while ((n = read(f->in, &news, sizeof(news))) == (ssize_t)sizeof(news))
		f->running += news.running;
	return n == 0;
}

static void tell_gone(struct lz_follow *f, pid_t pid)
{
	struct news news = {pid, -1};

	if (f->in >= 0)
		f->running--;
	else if (f->out >= 0 && write(f->out, &news, sizeof(news)) < 0)
		lz_debug("no room for news of process %d", (int)pid);
}

/* A tracer that has ended before it had its process leaves it where nobody wakes it. */
static void reap(struct lz_follow *f)
{
	int status = 0;

	for (size_t i = 0; i < f->n;) {
		struct lz_next was = f->next[i];
		pid_t got = waitpid(was.tracer, &status, WNOHANG);

		if (got == 0) {
			i++;
			continue;
		}
		f->next[i] = f->next[--f->n];
		if (!lz_is_parked(was.process))
			continue;
		if (got > 0 && WIFSIGNALED(status))
			lz_fail("its tracer was killed by signal %d", WTERMSIG(status));
		else /* whoever waits for any process has met it first, or it could not start */
			lz_fail("its tracer has ended");
		lz_free_parked(was.process, &was.was);
		tell_gone(f, was.process);
	}
}

/* Nobody but us wakes those whose tracer fails to begin. */
static void until_taken(struct lz_follow *f)
{
	uint64_t begun = lz_now();

	for (size_t i = 0; i < f->n && lz_now() - begun < TAKE_MS * 1000000ULL; reap(f))
		if (lz_is_parked(f->next[i].process))
			usleep(1000);
		else
			i++;
}

void lz_follow_tick(struct lz_tracer *t)
{
	reap(&t->follow);
	if (t->follow.in >= 0)
		read_news(&t->follow);
	else
		lz_descriptors_alone(t->follow.out);
}

void lz_follow_gone(struct lz_tracer *t)
{
	if (t->follow.in < 0) /* the first process was never counted */
		tell_gone(&t->follow, (pid_t)t->tid);
}

void lz_follow_end(struct lz_tracer *t)
{
	struct lz_follow *f = &t->follow;
	struct pollfd p = {.fd = f->in, .events = POLLIN};
	uint64_t quiet = lz_now();
	int64_t before = f->running;

	until_taken(f);
	if (f->out >= 0)
		close(f->out);
	/* Those whose process is gone have only to write down the rest. */
	while (f->in >= 0 && !read_news(f)) {
		reap(f);
		if (f->running != before || f->running <= 0)
			quiet = lz_now();
		before = f->running;
		if (lz_now() - quiet >= GRACE_MS * 1000000ULL) {
			lz_warn("%" PRId64 " more process%s still running", f->running,
			        f->running == 1 ? " is" : "es are");
			break;
		}
		poll(&p, 1, 50);
	}
	if (f->in >= 0)
		close(f->in);
	free(f->next);
	lz_shared_lock_free(&t->shared_lock);
	free(t->follow.root);
	t->follow.root = NULL;
	*f = (struct lz_follow){.in = -1, .out = -1};
}
