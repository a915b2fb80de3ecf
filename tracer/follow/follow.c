/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handing a process over to another tracer. */
#include "tracer/calls/calls.h"
#include "tracer/calls/filter.h"
#include "tracer/follow/follow.h"
#include "tracer/follow/handover.h"
#include "tracer/follow/spawner.h"
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
	return lz_proc_open(c, pid);
}

int lz_check_handover(struct lz_proc *c)
{
	struct user_regs_struct r;

	return lz_check_image(c, &r) < 0 ? -1 : lz_find_syscall(c);
}

/* ---- the next tracer ---- */

static void fill(struct lz_tracer *t, pid_t pid, struct lz_handover *h)
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
	/* so that it need not read the processor's, which takes two changes of CR4 each time */
	lz_counter_scale(t);
	h->counter_first = t->fast.counter_first;
	h->counter = t->fast.counter;
	h->counter.last = 0;
	h->opt.argv = NULL;
	h->opt.dir = h->opt.follow = NULL;
	snprintf(h->follow, sizeof(h->follow), "%s", t->opt->follow);
	snprintf(h->root, sizeof(h->root), "%s", t->follow.root);
}

/* The other one goes on when nothing more can come from this end. */
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
	char taken;

	for (size_t i = 0; i < f->n;) {
		struct lz_next was = f->next[i];
		const ssize_t n = recv(was.end, &taken, 1, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			i++;
			continue;
		}
		close(was.end);
		f->next[i] = f->next[--f->n];
		if (n == 1 || !lz_is_parked(was.process))
			continue;
		lz_fail("its tracer has ended");
		lz_free_parked(was.process, &was.was);
		tell_gone(f, was.process);
	}
}

int lz_hand_over(struct lz_tracer *t, struct lz_proc *c, struct lz_handover *h)
{
	struct lz_follow *f = &t->follow;
	bool is_parked = false, is_passed = false;
	int ends[2];

	reap(f);
	fill(t, c->pid, h);
	if (lz_reserve(f->next, f->room, f->n + 1) < 0) {
		lz_fail("out of memory for the list of tracers");
		return lz_go_unrecorded(c, NULL);
	}
	if (channel(ends) < 0)
		return lz_go_unrecorded(c, NULL);
	/* It is asked for before the process is parked: should this tracer be killed in between, the
	 * other one goes on. */
	if (lz_spawner_ask(&(struct lz_spawned){ends[0], f->out, t->shared_lock.fd, f->spawner}) ==
	    0) {
		is_parked = lz_park(c, &h->was) == 0;
		is_passed = is_parked && pass(t, ends[1], h) == 0;
	}
	close(ends[0]);
	if (!is_passed) {
		close(ends[1]);
		return lz_proc_has_ended(c->pid) ? 0
		                                 : lz_go_unrecorded(c, is_parked ? &h->was : NULL);
	}
	int ret = ptrace(PTRACE_DETACH, c->pid, 0, 0);
	shutdown(ends[1], SHUT_WR);
	f->next[f->n++] = (struct lz_next){.end = ends[1], .process = c->pid, .was = h->was};
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
	bool all_done = true;

	until_taken(f);
	if (f->out >= 0)
		close(f->out);
	if (f->spawner >= 0)
		close(f->spawner);
	/* Those whose process is gone have only to write down the rest. */
	while (f->in >= 0 && !read_news(f)) {
		reap(f);
		if (f->running != before || f->running <= 0)
			quiet = lz_now();
		before = f->running;
		if (lz_now() - quiet >= GRACE_MS * 1000000ULL) {
			lz_warn("%" PRId64 " more process%s still running", f->running,
			        f->running == 1 ? " is" : "es are");
			all_done = false;
			break;
		}
		poll(&p, 1, 50);
	}
	while (all_done && f->spawner_pid > 0 && waitpid(f->spawner_pid, NULL, 0) < 0 &&
	       errno == EINTR)
		;
	if (f->in >= 0)
		close(f->in);
	while (f->n)
		close(f->next[--f->n].end);
	free(f->next);
	lz_shared_lock_free(&t->shared_lock);
	free(t->follow.root);
	t->follow.root = NULL;
	*f = (struct lz_follow){.in = -1, .out = -1, .spawner = -1};
}
