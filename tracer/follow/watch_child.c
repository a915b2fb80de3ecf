/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process that is not recorded itself, but may start one that is. */
#include "tracer/calls/calls.h"
#include "tracer/follow/follow.h"
#include "tracer/follow/handover.h"
#include "tracer/state/state.h"

#include <common/base/array.h>
#include <errno.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { TICK_MS = 500 };

/* New processes whose first stop came before the event that tells of them. Threads just go on. */
struct early {
	pid_t *pid;
	size_t n, room;
};

static bool is_thread(pid_t tid, pid_t of)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)of, (int)tid);
	FILE *f = fopen(path, "re");
	if (f)
		fclose(f);
	return f != NULL;
}

static int note_early(struct early *e, pid_t pid)
{
	if (lz_reserve(e->pid, e->room, e->n + 1) < 0)
		return -1;
	e->pid[e->n++] = pid;
	return 0;
}

static bool take_early(struct early *e, pid_t pid)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->pid[i] == pid) {
			e->pid[i] = e->pid[--e->n];
			return true;
		}
	}
	return false;
}

/* Its first stop, which may have come already. */
static int first_stop(struct early *e, pid_t pid)
{
	int status;

	if (take_early(e, pid))
		return 1;
	if (lz_proc_wait(pid, &status) < 0)
		return -1;
	return WIFSTOPPED(status);
}

static int go_on(pid_t pid, int sig)
{
	return ptrace(PTRACE_CONT, pid, 0, sig) < 0 && errno != ESRCH
	           ? lz_fail_errno("cannot resume process %d", (int)pid)
	           : 0;
}

static int child_born(struct lz_tracer *t, struct early *e, pid_t parent)
{
	struct lz_handover *h;
	struct lz_proc c;
	unsigned long pid;
	int ret;

	if (ptrace(PTRACE_GETEVENTMSG, parent, 0, &pid) < 0)
		return 0; /* killed */
	if (is_thread((pid_t)pid, (pid_t)t->tid) || lz_proc_has_ended((pid_t)pid))
		return 0;
	ret = first_stop(e, (pid_t)pid);
	if (ret <= 0)
		return ret;
	h = calloc(1, sizeof(*h));
	if (!h)
		return lz_fail("out of memory");
	h->kind = LZ_HANDOVER_WATCH;
	if (lz_proc_open(&c, (pid_t)pid) < 0) {
		c = (struct lz_proc){.pid = (pid_t)pid, .mem = -1};
		ret = lz_go_unrecorded(&c, NULL);
	} else if (lz_find_syscall(&c) < 0) {
		ret = lz_go_unrecorded(&c, NULL);
	} else {
		ret = lz_hand_over(t, &c, h);
	}
	lz_proc_close(&c);
	free(h);
	return ret;
}

/* 1: a program that is to be recorded begins. */
static int exec_done(struct lz_tracer *t, pid_t pid)
{
	if (lz_follow_kind(t, pid, true) != LZ_HANDOVER_EXEC) {
		lz_tell_privileges(pid);
		return go_on(pid, 0);
	}
	return lz_exec_exit(&t->p) < 0 || lz_check_handover(&t->p) < 0 ? -1 : 1;
}

static int stopped(struct lz_tracer *t, struct early *e, pid_t pid, int status)
{
	bool known = pid == (pid_t)t->tid || is_thread(pid, (pid_t)t->tid);

	switch (status >> 16) {
	case 0: return go_on(pid, WSTOPSIG(status));
	case PTRACE_EVENT_EXEC: return exec_done(t, pid);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: return child_born(t, e, pid) < 0 ? -1 : go_on(pid, 0);
	case PTRACE_EVENT_STOP:
		if (!known)
			return note_early(e, pid);
		if (WSTOPSIG(status) == SIGTRAP) /* a thread's first one, or SIGCONT */
			return go_on(pid, 0);
		ptrace(PTRACE_LISTEN, pid, 0, 0);
		return 0;
	default: return go_on(pid, 0);
	}
}

int lz_watch_until_exec(struct lz_tracer *t)
{
	struct early e = {0};
	int status, ret = lz_timer_set(TICK_MS * 1000000ULL, TICK_MS * 1000000ULL) < 0
	                      ? -1
	                      : go_on(t->p.pid, 0);

	while (ret == 0) {
		pid_t got = waitpid(-1, &status, __WALL);

		if (got < 0 && errno == EINTR) {
			lz_follow_tick(t);
			continue;
		}
		if (got < 0)
			break; /* all gone */
		if (WIFSTOPPED(status)) {
			ret = stopped(t, &e, got, status);
			continue;
		}
		if (take_early(&e, got))
			continue;
		lz_follow_tick(t); /* it may have been a tracer */
		if (got == (pid_t)t->tid)
			break;
	}
	/* Nobody has lived to tell of these. */
	while (e.n && ret <= 0)
		ptrace(PTRACE_DETACH, e.pid[--e.n], 0, 0);
	free(e.pid);
	return ret;
}
