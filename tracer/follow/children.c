/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children are not recorded: each is set free clean. One that shares its parent's memory is watched
 * until it execs or exits, and what it wrote becomes output of the parent's call. */
#include "tracer/calls/calls.h"
#include "tracer/calls/filter.h"
#include "tracer/calls/rseq.h"
#include "tracer/filters/filters.h"
#include "tracer/code/code.h"
#include "tracer/follow/follow.h"
#include "tracer/follow/handover.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <lizard/error.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int lz_private_ring(struct lz_proc *c, uint64_t ring, uint64_t traced_addr)
{
	uint32_t zero = 0;
	int64_t ret;

	if (lz_proc_syscall(c, &ret, SYS_mmap, ring, LZ_RING_LEN, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~0ULL, 0) < 0)
		return -1;
	if (ret < 0)
		return lz_fail("cannot give a child its own marker sink: %s", strerror((int)-ret));
	return traced_addr ? lz_proc_write(c, traced_addr, &zero, sizeof(zero)) : 0;
}

static int restore_affinity(struct lz_tracer *t, struct lz_proc *c)
{
	int64_t ret;

	/* another user's process must do it itself */
	if (sched_setaffinity(c->pid, sizeof(cpu_set_t), &t->borrowed.affinity) == 0)
		return 0;
	const uint64_t at = lz_scratch(t, c);
	if (lz_proc_write(c, at, &t->borrowed.affinity, sizeof(cpu_set_t)) < 0)
		return -1;
	return lz_proc_syscall(c, &ret, SYS_sched_setaffinity, 0, sizeof(cpu_set_t), at, 0, 0, 0);
}

/* Where it stands is not there in the child of a fork. */
static int leave_detour(const struct lz_tracer *t, struct lz_proc *c)
{
	struct user_regs_struct r;

	if (c == &t->p || !t->p.elsewhere)
		return 0;
	c->elsewhere = t->p.elsewhere;
	int ret = lz_proc_regs(c, &r);
	c->elsewhere = NULL;
	return ret < 0 ? -1 : lz_proc_set_regs(c, &r);
}

int lz_set_clean(struct lz_tracer *t, struct lz_proc *c, bool shares)
{
	if (!shares && t->s.mem && lz_private_ring(c, lz_ring_of(t->s.base), t->s.traced_addr) < 0)
		return -1;
	if (!shares) {
		/* what a jump covers may be armed */
		lz_detours_release(t, c);
		lz_armed_release(t, c);
		if (leave_detour(t, c) < 0)
			return -1;
	}
	return lz_insn_release(t, c) < 0 ? -1 : restore_affinity(t, c);
}

/* As the kernel shows it; -1. */
static int64_t personality_of(pid_t pid)
{
	char path[64];
	unsigned flags;

	snprintf(path, sizeof(path), "/proc/%d/personality", (int)pid);
	FILE *f = fopen(path, "re");
	const bool known = f && fscanf(f, "%x", &flags) == 1;
	if (f)
		fclose(f);
	return known ? (int64_t)flags : -1;
}

/* The program may have set other flags for itself. */
int lz_set_randomized(struct lz_tracer *t, struct lz_proc *c)
{
	const int64_t before = t->borrowed.personality;
	int64_t ret;

	if (!t->borrowed.personality_set)
		return 0;
	const int64_t now = personality_of(c->pid), all = now < 0 ? before : now;
	const int64_t own = (all & ~(int64_t)ADDR_NO_RANDOMIZE) | (before & ADDR_NO_RANDOMIZE);
	return lz_proc_syscall(c, &ret, SYS_personality, (uint64_t)own, 0, 0, 0, 0, 0);
}

/* Its markers go to the sink while it lives in our memory. */
static int use_sink(struct lz_tracer *t, struct lz_proc *c)
{
	const struct lz_stream *s = &t->s;
	struct user_regs_struct r;

	if (!s->mem)
		return 0;
	if (lz_proc_regs(c, &r) < 0)
		return -1;
	if (lz_stream_has(t, r.r15)) {
		r.r15 = s->sink;
		if (lz_proc_set_regs(c, &r) < 0)
			return -1;
	}
	return lz_proc_write(c, s->pos_addr, &s->sink, sizeof(s->sink));
}

/* Runs the child, which is not ours to disturb, until it has a memory of its own or is gone.
 * *gone says which. */
static int until_exec(pid_t pid, bool *gone)
{
	int status, sig = 0;

	*gone = false;
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD) < 0)
		return lz_fail_errno("cannot watch child %d", (int)pid);
	for (;;) {
		if (ptrace(PTRACE_CONT, pid, 0, sig) < 0 && errno != ESRCH)
			return lz_fail_errno("cannot resume child %d", (int)pid);
		if (lz_proc_wait(pid, &status) < 0)
			return -1;
		if (!WIFSTOPPED(status)) {
			*gone = true;
			return 0;
		}
		if (status >> 16 == PTRACE_EVENT_EXEC)
			return 0;
		sig = status >> 16 ? 0 : WSTOPSIG(status);
	}
}

/* A child in our memory has gone: what it was given is ours again. */
static int take_back(struct lz_tracer *t)
{
	const struct lz_stream *s = &t->s;
	uint64_t now = s->base + s->parsed;

	lz_armed_again(t);
	lz_detours_again(t);
	return s->mem ? lz_proc_write(&t->p, s->pos_addr, &now, sizeof(now)) : 0;
}

static int run_shared(struct lz_tracer *t, struct lz_proc *c, bool *gone)
{
	if (use_sink(t, c) < 0)
		return -1;
	lz_detours_lend(t, c);
	lz_armed_release(t, c);
	/* one that is followed cannot have them: its next tracer makes calls for it */
	if (!t->opt->follow && lz_filters_release(t, t->cur, c) < 0)
		return -1;
	lz_shared_lock_leave(t); /* whoever it waits for may need it */
	int ret = until_exec(c->pid, gone);
	if (lz_shared_lock_enter(t) < 0)
		return -1;
	t->shared_lock.news = true; /* it has stored to shared memory as well */
	return ret;
}

static int share_memory(struct lz_tracer *t, struct lz_proc *c, bool *gone)
{
	if (lz_pages_watch(t) < 0 || lz_child_maps_before(t) < 0 || lz_child_code_before(t) < 0)
		return -1;
	if (run_shared(t, c, gone) < 0) {
		if (!lz_proc_has_ended(c->pid))
			return -1;
		*gone = true;
	}
	return take_back(t) < 0 ? -1 : lz_pages_watched(t, &t->child_set);
}

/* What a child that is to be recorded has inherited from this process. */
static void inherited(const struct lz_tracer *t, struct lz_handover *h)
{
	const struct lz_stream *s = &t->s;

	h->parent_marker = s->start + s->parsed;
	h->undumpable = t->borrowed.undumpable;
	h->looked = lz_outside_looked(t);
	h->rseq = t->cur->rseq;
	h->stub_addr = t->meta.stub_addr;
	memcpy(h->act, t->act, sizeof(h->act));
	if (!s->mem)
		return;
	h->ring = lz_ring_of(s->base);
	h->sink = s->sink;
	h->pos_addr = s->pos_addr;
	h->pos_off = s->pos_off;
	h->traced_addr = s->traced_addr;
}

static int let_go(struct lz_proc *c)
{
	if (ptrace(PTRACE_DETACH, c->pid, 0, 0) < 0 && errno != ESRCH)
		return lz_fail_errno("cannot let it go");
	return 0;
}

/* It stands at the exit of its execve. Who is followed has not got its filters before. */
static int let_program_go(const struct lz_tracer *t, struct lz_proc *c)
{
	if (lz_filter_mode(t->cur) &&
	    (lz_find_syscall(c) < 0 || lz_filters_release(t, t->cur, c) < 0))
		return -1;
	return let_go(c);
}

static int hand_over(struct lz_tracer *t, struct lz_proc *c, struct lz_handover *h, bool after_exec)
{
	if (after_exec && lz_exec_exit(c) < 0)
		return -1;
	if (!after_exec || lz_check_handover(c) == 0)
		return lz_hand_over(t, c, h);
	if (lz_proc_has_ended(c->pid))
		return -1;
	lz_warn("process %d goes on unrecorded: %s", (int)c->pid, lz_error());
	return let_program_go(t, c);
}

/* KIND: of its handover, -1: it is not followed. AFTER_EXEC: it stands at the event of its
 * execve. */
static int hand_over_or_detach(struct lz_tracer *t, struct lz_proc *c, int kind, bool after_exec)
{
	struct lz_handover *h = kind < 0 ? NULL : calloc(1, sizeof(*h));

	if (h) {
		h->kind = (enum lz_handover_kind)kind;
		inherited(t, h);
		int ret = hand_over(t, c, h, after_exec);
		free(h);
		return ret;
	}
	if (!after_exec && (lz_set_undumpable(t, c) < 0 || lz_rseq_release(&t->cur->rseq, c) < 0 ||
	                    lz_filters_release(t, t->cur, c) < 0))
		return -1;
	if (after_exec && t->opt->follow && lz_filter_mode(t->cur))
		return lz_exec_exit(c) < 0 ? -1 : let_program_go(t, c);
	return let_go(c);
}

/* What runs as another user no other tracer could take. */
static int kind_of(const struct lz_tracer *t, pid_t pid, bool exec)
{
	int kind = lz_follow_kind(t, pid, exec);
	struct lz_proc p;

	if (kind < 0)
		return kind;
	/* the calls by which it would be handed over need not be allowed */
	if (kind == LZ_HANDOVER_WATCH && lz_filter_mode(t->cur)) {
		lz_warn("process %d goes on unrecorded: it has filters of system calls", (int)pid);
		return -1;
	}
	if (lz_proc_open(&p, pid) == 0) {
		lz_proc_close(&p);
		return kind;
	}
	if (errno != EACCES)
		return kind;
	if (kind != LZ_HANDOVER_WATCH)
		lz_warn("process %d goes on unrecorded: %s", (int)pid, lz_error());
	return -1;
}

/* Will the program that it executes be recorded, whatever its name is? Then at the same
 * addresses each time. */
static bool is_followed(const struct lz_tracer *t, pid_t pid, bool shares)
{
	const char *follow = t->opt->follow;

	return follow && (strcmp(follow, "all") == 0 ||
	                  (!shares && lz_follow_kind(t, pid, false) == LZ_HANDOVER_FORK));
}

int lz_child_new(struct lz_tracer *t, int event)
{
	bool shares = t->cur->call.nr == SYS_vfork ||
	              (t->cur->call.nr == SYS_clone && t->cur->call.args[0] & CLONE_VM);
	struct lz_proc c;
	unsigned long pid;
	bool gone = false;
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, t->p.pid, 0, &pid) < 0)
		return lz_fail_errno("cannot learn about a new child");
	if (t->cur->call.nr == SYS_clone && t->cur->call.args[0] & CLONE_THREAD)
		return lz_thread_born(t, (pid_t)pid);
	if (lz_proc_wait((pid_t)pid, &status) < 0)
		return -1;
	if (!WIFSTOPPED(status))
		return 0; /* killed at once */
	/* without descriptors it can still be let go as it should be */
	if (lz_proc_open(&c, (pid_t)pid) < 0)
		c = (struct lz_proc){.pid = (pid_t)pid, .mem = -1};
	c.syscall_insn = t->p.syscall_insn;
	c.on_trap = t->p.on_trap; /* it has the same actions so far */
	lz_stream_offset(t);
	lz_share_with_others(t);
	int ret = lz_set_clean(t, &c, shares);
	if (ret == 0 && !is_followed(t, (pid_t)pid, shares))
		ret = lz_set_randomized(t, &c);
	if (ret == 0 && shares)
		ret = share_memory(t, &c, &gone);
	if (ret == 0 && !gone) {
		int kind = kind_of(t, (pid_t)pid, shares);
		if (shares && kind != LZ_HANDOVER_EXEC) /* else its own tracer will */
			lz_tell_privileges((pid_t)pid);
		if (!shares && (kind < 0 || kind == LZ_HANDOVER_WATCH))
			lz_unrecorded_born(t, (pid_t)pid);
		if (kind < 0 && !t->opt->follow)
			lz_unfollowed_add(t, (pid_t)pid, shares);
		ret = hand_over_or_detach(t, &c, kind, shares);
	}
	lz_proc_close(&c);
	if (ret == 0)
		return 0;
	if (lz_proc_has_ended((pid_t)pid)) /* killed meanwhile */
		return shares ? take_back(t) : 0;
	lz_fail_in("child %lu", pid);
	ptrace(PTRACE_DETACH, (pid_t)pid, 0, 0); /* whatever it is like */
	return -1;
}
