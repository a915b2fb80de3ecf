/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads in re-execution: the registers of the one that runs are exchanged at a switch. */
#include "replayer/engine/inside.h"
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

uint32_t lz_engine_tid(const struct lz_engine *e)
{
	return lz_contexts_running(&e->threads)->tid;
}

bool lz_engine_in_kernel(const struct lz_engine *e)
{
	return e->gone || lz_contexts_running(&e->threads)->in_call;
}

bool lz_event_async(const struct lz_event *ev)
{
	return (ev->kind == LZ_EV_SIGNAL && !(ev->flags & LZ_EVF_SYNC)) ||
	       (ev->kind == LZ_EV_SWITCH && !(ev->flags & LZ_EVF_IN_CALL)) ||
	       ev->kind == LZ_EV_SHARED;
}

uint64_t lz_engine_pos_addr(const struct lz_engine *e, const struct user_regs_struct *regs)
{
	return e->buffer.hello ? regs->fs_base + e->buffer.pos_offset : 0;
}

bool lz_event_counted(const struct lz_event *ev)
{
	return ev->flags & (LZ_EVF_SYNC | LZ_EVF_SPIN) || ev->has_state;
}

/* ---- is it the recorded switch ---- */

/* The registers that a thread goes on with must be those that it had. r15 is given anew. What is
 * in rax inside of a call depends on how far the kernel has come. */
static int check_regs(struct lz_engine *e, const struct lz_event *ev, const struct lz_context *t)
{
	struct user_regs_struct want = ev->regs, had = t->regs;
	char what[128];

	had.r15 = want.r15;
	if (t->in_call)
		had.rax = want.rax;
	if (!lz_regs_difference(&had, &want, what, sizeof what))
		return 0;
	return lz_engine_diverge(e, "thread %u goes on with other registers than it had: %s",
	                         t->tid, what);
}

int lz_engine_check_switch(struct lz_engine *e, const struct lz_event *ev)
{
	const struct lz_context *t = lz_contexts_find(&e->threads, ev->next);
	uint32_t tid = lz_engine_tid(e);

	if (ev->tid != tid)
		return lz_engine_diverge(e, "thread %u runs, recorded is a switch away from %u",
		                         tid, ev->tid);
	if (!t || t->tid == tid)
		return lz_engine_diverge(e, "recorded is a switch to thread %u, %s", ev->next,
		                         t ? "which runs already" : "which does not exist");
	if (!ev->has_regs || (!ev->xstate_len && !t->xstate))
		return lz_engine_diverge(e, "the %sregisters of thread %u are not recorded",
		                         ev->has_regs ? "vector " : "", ev->next);
	return check_regs(e, ev, t);
}

/* ---- applying ---- */

/* Keeps what the running thread has, and gives the process TO's vector registers if they are
 * known. */
static int exchange(struct lz_engine *e, uint32_t to)
{
	struct user_regs_struct regs = *lz_engine_regs(e);
	uint8_t now[LZ_XSTATE_MAX];
	uint32_t len = sizeof now;

	if (lz_proc_xstate(&e->proc, now, &len) < 0)
		return -1;
	regs.orig_rax = (uint64_t)-1;
	if (lz_contexts_switch(&e->threads, &regs, now, len, e->gone, to) < 0)
		return -1;
	e->gone = false;
	const struct lz_context *t = lz_contexts_running(&e->threads);
	return t->xstate ? lz_proc_set_xstate(&e->proc, t->xstate, t->xstate_len) : 0;
}

int lz_engine_switch(struct lz_engine *e, const struct lz_event *ev)
{
	struct lz_context *from = lz_contexts_running(&e->threads);
	const struct lz_context *to = lz_contexts_find(&e->threads, ev->next);

	if (!ev->has_regs || (to && !to->xstate && !ev->xstate_len))
		return lz_fail("the recording does not have the registers of thread %u", ev->next);
	from->in_call = ev->flags & LZ_EVF_IN_CALL;
	from->call = from->in_call ? ev->nr : LZ_NO_CALL;
	/* the flag of a single step is in what the instruction has put there */
	if (from->in_call)
		e->regs.r11 = e->regs.eflags & ~(uint64_t)LZ_FLAG_RF;
	return exchange(e, ev->next);
}

int lz_engine_become(struct lz_engine *e, uint32_t tid)
{
	if (!lz_contexts_find(&e->threads, tid))
		return lz_fail("there is no thread %u now", tid);
	if (tid == lz_engine_tid(e))
		return 0;
	if (lz_engine_leave_call(e) < 0 || exchange(e, tid) < 0)
		return -1;
	e->regs = lz_contexts_running(&e->threads)->regs;
	e->regs_dirty = true;
	return 0;
}

/* struct clone_args of linux/sched.h, its first version. */
struct clone_args_v0 {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

/* What the new thread begins with is what its parent has, but for these. */
static int new_thread(struct lz_engine *e, const struct lz_event *ev, uint64_t flags, uint64_t sp,
                      uint64_t tls)
{
	struct user_regs_struct regs = e->regs;
	uint8_t xstate[LZ_XSTATE_MAX];
	uint32_t len = sizeof xstate;
	int64_t tid = ev->flags & LZ_EVF_THREAD_BORN ? ev->next : ev->result;

	if (!(flags & CLONE_THREAD))
		return 0;
	if (tid <= 0 || tid > UINT32_MAX)
		return lz_fail("the recording has a thread %" PRId64, tid);
	regs.rax = 0;
	if (sp)
		regs.rsp = sp;
	if (flags & CLONE_SETTLS)
		regs.fs_base = tls;
	if (lz_proc_xstate(&e->proc, xstate, &len) < 0)
		return -1;
	return lz_contexts_add(&e->threads, (uint32_t)tid, &regs, xstate, len);
}

static int after_clone(struct lz_engine *e, const struct lz_event *ev)
{
	struct clone_args_v0 a;

	if (ev->result <= 0)
		return 0;
	if (ev->nr == SYS_clone)
		return new_thread(e, ev, ev->args[0], ev->args[1], ev->args[4]);
	if (lz_proc_read(&e->proc, ev->args[0], &a, sizeof a) < 0)
		return lz_fail_in("the arguments of clone3");
	return new_thread(e, ev, a.flags, a.stack ? a.stack + a.stack_size : 0, a.tls);
}

int lz_engine_after_call(struct lz_engine *e, const struct lz_event *ev)
{
	struct lz_context *t = lz_contexts_running(&e->threads);

	if (ev->kind != LZ_EV_SYSCALL)
		return 0;
	t->in_call = false;
	t->call = LZ_NO_CALL;
	if (ev->flags & LZ_EVF_THREAD_END)
		e->gone = true;
	return ev->nr == SYS_clone || ev->nr == SYS_clone3 ? after_clone(e, ev) : 0;
}
