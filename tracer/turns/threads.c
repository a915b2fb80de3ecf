/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that begin and end. */
#include "tracer/filters/filters.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"
#include "tracer/turns/turns.h"

#include <common/base/array.h>
#include <errno.h>
#include <lizard/error.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ROBUST = 2048 }; /* as many as the kernel looks at */

static struct lz_thread *new_thread(struct lz_tracer *t, uint32_t tid)
{
	struct lz_thread *th = calloc(1, sizeof(*th));

	if (!th || lz_extend(t->thread, t->n_threads) < 0) {
		free(th);
		lz_fail("out of memory for a thread");
		return NULL;
	}
	th->tid = tid;
	th->stat = -1;
	th->priority = lz_chaos_priority(t);
	t->thread[t->n_threads++] = th;
	t->most_threads = t->n_threads > t->most_threads ? t->n_threads : t->most_threads;
	return th;
}

int lz_threads_begin(struct lz_tracer *t)
{
	t->cur = new_thread(t, t->tid);
	t->running = t->tid;
	if (!t->cur)
		return -1;
	t->own_tid = t->cur->own_tid = (uint32_t)lz_process_status((pid_t)t->tid).own_pid;
	t->cur->seen = true;
	return 0;
}

static void release(struct lz_thread *th)
{
	if (th->stat >= 0)
		close(th->stat);
	lz_blocked_drop(th);
	lz_filter_drop(th->filter);
	lz_vectors_free(&th->vectors);
	free(th->robust);
	free(th->xstate);
	free(th->sig.held);
	free(th->sig.sent);
	free(th);
}

void lz_thread_remove(struct lz_tracer *t, struct lz_thread *th)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		if (t->thread[i] != th)
			continue;
		memmove(t->thread + i, t->thread + i + 1,
		        (t->n_threads - i - 1) * sizeof(struct lz_thread *));
		t->n_threads--;
		release(th);
		return;
	}
}

void lz_threads_free(struct lz_tracer *t)
{
	while (t->n_threads)
		release(t->thread[--t->n_threads]);
	free(t->thread);
	t->thread = NULL;
	t->cur = NULL;
}

void lz_threads_exec(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;

	for (size_t i = t->n_threads; i--;)
		if (t->thread[i] != cur)
			lz_thread_remove(t, t->thread[i]);
	if (cur->stat >= 0)
		close(cur->stat);
	cur->stat = -1;
	cur->clear_tid = 0;
	cur->rseq = (struct lz_rseq){0};
	cur->watched = false;
	t->sched.dying = false;
}

int lz_thread_born(struct lz_tracer *t, pid_t tid)
{
	const struct lz_call *c = &t->cur->call;
	struct lz_thread *parent = t->cur, *th;
	int status, ret;

	if (lz_proc_wait(tid, &status) < 0)
		return -1;
	/* killed at once: nobody else waits for that stop */
	while (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT)
		if (ptrace(PTRACE_CONT, tid, 0, 0) < 0 || lz_proc_wait(tid, &status) < 0)
			return 0;
	if (!WIFSTOPPED(status))
		return 0;
	th = new_thread(t, (uint32_t)tid);
	if (!th)
		return -1;
	th->ready = true;
	t->born = (uint32_t)tid;
	th->sig.blocked = parent->sig.blocked;
	th->tsc_mode = parent->tsc_mode;
	th->counter_open = parent->counter_open;
	lz_filters_inherit(th, parent);
	th->clear_tid = c->args[0] & CLONE_CHILD_CLEARTID ? c->args[3] : 0;
	lz_become(t, th);
	ret = lz_proc_regs(&t->p, &th->regs) < 0 || lz_thread_save_xstate(t) < 0 ? -1 : 0;
	lz_become(t, parent);
	if (t->n_threads == 2 && lz_sched_turn(t) < 0)
		ret = -1;
	return ret < 0 ? lz_fail_in("thread %d", (int)tid) : 0;
}

/* Replay, which has no PID namespaces, is told by which number the thread goes. */
void lz_thread_born_as(struct lz_tracer *t, int64_t result)
{
	struct lz_thread *th = t->born ? lz_thread_find(t, (pid_t)t->born) : NULL;

	if (th)
		th->own_tid = (uint32_t)result;
	if (t->born && t->born != result) {
		t->b.ev.flags |= LZ_EVF_THREAD_BORN;
		t->b.ev.next = t->born;
	}
	t->born = 0;
}

/* ---- the end ---- */

/* The futexes that the kernel will mark as their owner's leaving: the list that
 * set_robust_list() names. */
static void find_robust(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	struct robust_list_head head;
	uint64_t at = 0, entry, first;
	size_t len;

	if (syscall(SYS_get_robust_list, cur->tid, &at, &len) < 0 || !at ||
	    lz_proc_read_some(&t->p, at, &head, sizeof(head)) != sizeof(head))
		return;
	free(cur->robust);
	cur->robust = calloc(MAX_ROBUST + 1, sizeof(*cur->robust));
	if (!cur->robust)
		return;
	first = entry = (uint64_t)(uintptr_t)head.list.next;
	while (cur->n_robust < MAX_ROBUST && (entry & ~1ULL) != at) {
		cur->robust[cur->n_robust++] = (entry & ~1ULL) + (uint64_t)head.futex_offset;
		if (lz_proc_read_some(&t->p, entry & ~1ULL, &entry, 8) != 8 || entry == first)
			break;
	}
	entry = (uint64_t)(uintptr_t)head.list_op_pending & ~1ULL;
	if (entry)
		cur->robust[cur->n_robust++] = entry + (uint64_t)head.futex_offset;
}

/* The first thread stays, as a zombie, until the last one has gone. */
static int until_zombie(struct lz_tracer *t)
{
	char state;

	while ((state = lz_thread_state_of(t, t->cur)) && !strchr("ZX", state))
		sched_yield();
	return 0;
}

int lz_thread_end(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	int status;

	find_robust(t);
	if (ptrace(PTRACE_CONT, (pid_t)cur->tid, 0, 0) < 0 && errno != ESRCH)
		return lz_fail_errno("cannot resume the program");
	cur->ended = true;
	if (cur->tid == t->tid)
		return until_zombie(t);
	return lz_proc_wait((pid_t)cur->tid, &status);
}

int lz_thread_end_writes(struct lz_tracer *t, const struct lz_thread *th)
{
	if (lz_build_read(t, th->clear_tid, 4) < 0)
		return -1;
	for (size_t i = 0; i < th->n_robust; i++)
		if (lz_build_read(t, th->robust[i], 4) < 0)
			return -1;
	return 0;
}
