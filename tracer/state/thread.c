/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state that each thread has of its own. */
#include "tracer/state/state.h"

#include <fcntl.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct lz_thread *lz_thread_find(const struct lz_tracer *t, pid_t tid)
{
	for (size_t i = 0; i < t->n_threads; i++)
		if ((pid_t)t->thread[i]->tid == tid)
			return t->thread[i];
	return NULL;
}

struct lz_thread *lz_thread_named(const struct lz_tracer *t, pid_t own_tid)
{
	for (size_t i = 0; i < t->n_threads; i++)
		if ((pid_t)t->thread[i]->own_tid == own_tid)
			return t->thread[i];
	return NULL;
}

static bool is_interrupted(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
	       WSTOPSIG(status) == SIGTRAP;
}

/* The current thread waits in the stub. It stands while its registers are read; any other stop that it is
 * met at is looked at later. */
static int save_on_standby(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	int status;

	if (ptrace(PTRACE_INTERRUPT, t->p.pid, 0, 0) < 0 || lz_proc_wait(t->p.pid, &status) < 0)
		return lz_fail_errno("cannot stop thread %u", cur->tid);
	int ret = WIFSTOPPED(status) ? lz_proc_xstate(&t->p, cur->xstate, &cur->xstate_len) : -1;
	if (is_interrupted(status) && ptrace(PTRACE_CONT, t->p.pid, 0, 0) == 0)
		return ret;
	cur->running = false;
	cur->has_pending_status = true;
	cur->pending_status = status;
	return ret;
}

int lz_thread_save_xstate(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;

	if (!cur->xstate && !(cur->xstate = malloc(LZ_XSTATE_MAX)))
		return lz_fail("out of memory for a thread");
	cur->xstate_len = LZ_XSTATE_MAX;
	return cur->standby && cur->running ? save_on_standby(t)
	                                    : lz_proc_xstate(&t->p, cur->xstate, &cur->xstate_len);
}

void lz_vectors_free(struct lz_vectors *v)
{
	free(v->io);
	free(v->message);
	*v = (struct lz_vectors){0};
}

char lz_thread_state_of(const struct lz_tracer *t, struct lz_thread *th)
{
	char text[256], path[64];
	const char *p;
	ssize_t n;

	if (th->stat < 0) {
		snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", t->tid, th->tid);
		th->stat = open(path, O_RDONLY | O_CLOEXEC);
	}
	n = pread(th->stat, text, sizeof(text), 0);
	p = n > 0 ? memrchr(text, ')', (size_t)n) : NULL;
	return p && text + n - p > 2 ? p[2] : 0;
}

bool lz_threaded(const struct lz_tracer *t)
{
	return t->n_threads > 1 || t->cur->tid != t->tid;
}

void lz_become(struct lz_tracer *t, struct lz_thread *th)
{
	t->cur = th;
	t->running = th->tid;
	t->p.pid = (pid_t)th->tid;
}
