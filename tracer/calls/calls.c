/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls: the stop before and the stop after. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/calls/filter.h"
#include "tracer/calls/proc_files.h"
#include "tracer/calls/rseq.h"
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/signals/signals.h"
#include "tracer/state/state.h"
#include "tracer/turns/turns.h"

#include <lizard/error.h>
#include <lizard/mark.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* The old gate has other numbers: what is called write there is exit. */
static bool by_int80(struct lz_tracer *t, uint64_t ip)
{
	uint64_t *known = &t->syscall_at[ip / 2 % LZ_KNOWN_CALLS];
	uint8_t insn[2];

	if (*known == ip)
		return false;
	if (lz_proc_read_some(&t->p, ip - 2, insn, 2) == 2 && insn[0] == 0xcd && insn[1] == 0x80)
		return true;
	*known = ip;
	return false;
}

/* The C library makes threads and spawns with it, and at once with clone() where it is absent:
 * nobody need be told. */
static bool is_library_clone3(struct lz_tracer *t)
{
	const uint64_t thread = CLONE_VM | CLONE_THREAD, spawn = CLONE_VM | CLONE_VFORK;
	struct clone_args a = {0};
	uint64_t size = t->cur->call.args[1];

	size = size < sizeof(a) ? size : sizeof(a);
	if (lz_proc_read_some(&t->p, t->cur->call.args[0], &a, size) != size)
		return true;
	return !a.set_tid_size && !(a.flags & (CLONE_PIDFD | CLONE_INTO_CGROUP)) &&
	       ((a.flags & thread) == thread || (a.flags & spawn) == spawn);
}

/* True: the call is not made, *result is given instead. */
static bool decide(struct lz_tracer *t, int64_t *result)
{
	const struct lz_call *c = &t->cur->call;
	const struct lz_syscall *row = c->row;

	*result = -ENOSYS;
	if (c->int80) {
		lz_refused(-ENOSYS, "a 32-bit system call (int $0x80)");
		return true;
	}
	if (c->nr == LZ_HELLO_NR_1)
		return true;
	if (!row || row->klass == LZ_SC_REFUSED || (c->nr == SYS_clone3 && !is_library_clone3(t))) {
		lz_refused(-ENOSYS, "system call %s", lz_syscall_name(c->nr));
		return true;
	}
	return row->klass == LZ_SC_ABSENT || lz_answer_by_args(t, result);
}

/* The program may run where a filter of system calls kills whoever makes one that it does not
 * know; what we have put in its place is filtered, too. */
uint64_t lz_call_instead(bool int80)
{
	return int80 ? (uint64_t)-1 : SYS_getpid;
}

static int log_exit_call(struct lz_tracer *t)
{
	if (lz_outside_end(t) < 0 || lz_build(t, LZ_EV_SYSCALL, t->cur->call.ip) < 0)
		return -1;
	t->b.ev.nr = t->cur->call.nr;
	memcpy(t->b.ev.args, t->cur->call.args, sizeof(t->b.ev.args));
	if (t->cur->call.ends_thread && t->n_threads > 1)
		t->b.ev.flags = LZ_EVF_THREAD_END;
	return lz_build_commit(t);
}

/* The call becomes the end of its thread. */
static int end_thread(struct lz_tracer *t, struct user_regs_struct *r)
{
	t->cur->call.forced = false;
	t->cur->call.ends_thread = true;
	r->orig_rax = SYS_exit;
	r->rdi = SIGSYS;
	return lz_proc_set_regs(&t->p, r) < 0 ? -1 : log_exit_call(t);
}

static int begin(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_call *c = &t->cur->call;

	lz_blocked_drop(t->cur);
	*c = (struct lz_call){.inside = true,
	                      .nr = r->orig_rax,
	                      .args = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9},
	                      .ip = r->rip,
	                      .row = lz_syscall(r->orig_rax)};
	c->entry = *r;
	c->int80 = by_int80(t, r->rip);
	c->forced = lz_filter_call(t, r, &c->forced_result) || decide(t, &c->forced_result);
	if (lz_filter_ends_thread(t))
		return end_thread(t, r);
	if (c->forced) {
		r->orig_rax = lz_call_instead(c->int80);
		/* the next one, as a mark, may have no stop */
		return lz_proc_set_regs(&t->p, r) < 0 ? -1 : lz_fast_before_call(t);
	}
	if (c->nr == SYS_rt_sigaction && c->args[1])
		lz_proc_read_some(&t->p, c->args[1], &c->act, sizeof(c->act));
	c->ends_thread = c->nr == SYS_exit;
	if (c->row->klass == LZ_SC_EXIT)
		return log_exit_call(t);
	return lz_fast_before_call(t) < 0 || lz_capture_prepare(t) < 0 ? -1
	                                                               : lz_blocked_take_early(t);
}

/* CLONE_UNTRACED would keep a child from us that has our marker buffers. */
static int show_child(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_call *c = &t->cur->call;

	if (c->forced || c->nr != SYS_clone || !(c->args[0] & CLONE_UNTRACED))
		return 0;
	r->rdi &= ~(uint64_t)CLONE_UNTRACED;
	return lz_proc_set_regs(&t->p, r);
}

/* Some calls are made with other arguments than those of the program, which gets its own back. */
static int change_arguments(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (t->cur->wait_cut || t->cur->part)
		return lz_call_shorten(t, r);
	switch (t->cur->call.nr) {
	case SYS_mmap: return lz_shared_code_private(t, r);
	case SYS_futex: return lz_call_wait_longer(t, r);
	default: return show_child(t, r);
	}
}

static int restore_arguments(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_call *c = &t->cur->call;

	if (c->shortened)
		return lz_call_lengthen(t, r);
	if ((c->nr != SYS_clone || r->rdi == c->entry.rdi) && !c->made_private)
		return 0;
	r->rdi = c->entry.rdi;
	r->rdx = c->entry.rdx;
	r->r10 = c->entry.r10;
	return lz_proc_set_regs(&t->p, r);
}

int lz_call_entry(struct lz_tracer *t, struct user_regs_struct *r)
{
	bool again = t->cur->call.suspended && lz_call_same(&t->cur->call, r);

	if (lz_stream_call(t, r) < 0)
		return -1;
	if (t->cur->call.suspended && !again && lz_call_give_up(t) < 0)
		return -1;
	t->cur->call.suspended = false;
	t->cur->call.inside = true;
	/* in between a handler may have changed its vectors */
	if ((again ? lz_capture_prepare(t) : begin(t, r)) < 0 || change_arguments(t, r) < 0)
		return -1;
	/* It may lose its turn in there, where its registers cannot be read. */
	if (lz_threaded(t) && lz_call_waits(&t->cur->call) && lz_thread_save_xstate(t) < 0)
		return -1;
	/* As if they had come just now: they interrupt the call if it blocks. */
	return lz_signal_release_in_call(t);
}

static int build_call(struct lz_tracer *t, int64_t result)
{
	if (lz_build(t, LZ_EV_SYSCALL, t->cur->call.ip) < 0)
		return -1;
	t->b.ev.nr = t->cur->call.nr;
	memcpy(t->b.ev.args, t->cur->call.args, sizeof(t->b.ev.args));
	t->b.ev.result = result;
	return 0;
}

int lz_call_give_up(struct lz_tracer *t)
{
	struct user_regs_struct r;

	t->cur->call.suspended = false;
	lz_blocked_drop(t->cur);
	if (lz_proc_regs(&t->p, &r) < 0 || build_call(t, (int64_t)r.rax) < 0 ||
	    lz_capture(t, (int64_t)r.rax) < 0)
		return -1;
	if (t->shared_lock.held && lz_shared_sync(t) < 0)
		return -1;
	return lz_build_commit(t);
}

/* Did the call change more than what `syscall` itself does? */
static bool other_regs(const struct user_regs_struct *before, const struct user_regs_struct *after)
{
	struct user_regs_struct x = *before;

	x.rax = after->rax;
	x.rcx = after->rcx;
	x.r11 = after->r11;
	x.orig_rax = after->orig_rax;
	return memcmp(&x, after, sizeof(x)) != 0;
}

/* The stream went on in the handler: the interrupted code goes on behind it. */
static int after_sigreturn(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_stream *s = &t->s;
	const uint64_t r15 = r->r15;

	lz_stream_offset(t);
	if (lz_stream_has(t, r15))
		r->r15 = s->base + s->parsed;
	t->b.ev.result = 0;
	if (lz_build_regs(t, r, true) < 0)
		return -1;
	if (r->r15 == r15)
		return 0;
	lz_instant_stamp(r);
	return lz_proc_set_regs(&t->p, r);
}

static int set_result(struct lz_tracer *t, struct user_regs_struct *r, int64_t result)
{
	r->rax = (uint64_t)result;
	return lz_proc_set_regs(&t->p, r);
}

/* The result of an old one says whether it is welcome. */
static int hello(struct lz_tracer *t, struct user_regs_struct *r)
{
	bool forced = t->cur->call.forced;

	if (!forced && lz_map_call(t, (int64_t)r->rax) < 0)
		return -1;
	int welcome = lz_call_hello(t);
	if (welcome <= 0 || !forced)
		return welcome < 0 ? -1 : 0;
	t->b.ev.result = 0;
	return set_result(t, r, 0);
}

static int unmap_around_own(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (lz_own_pages_unmap(t, &t->b.ev.result) < 0)
		return -1;
	return t->b.ev.result == 0 ? 0 : set_result(t, r, t->b.ev.result);
}

/* At the exit of a call that has been answered instead of being made. */
static int forced_effects(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_call *c = &t->cur->call;

	if (lz_is_mark(c->nr, c->args))
		return lz_mark_note(t, c->forced_result);
	if (c->forced_result != 0)
		return 0;
	switch (c->nr) {
	case SYS_munmap: return unmap_around_own(t, r);
	case SYS_rseq: return lz_rseq_done(t);
	case SYS_sched_setaffinity: return lz_rseq_moved(t);
	}
	return 0;
}

static int by_class(struct lz_tracer *t, struct user_regs_struct *r)
{
	int64_t result = (int64_t)r->rax;

	if (t->cur->call.filtered)
		return 0;
	if (lz_hello_version(t->cur->call.nr, t->cur->call.args))
		return hello(t, r);
	if (t->cur->call.forced)
		return forced_effects(t, r);
	switch (t->cur->call.row->klass) {
	case LZ_SC_MAP: return lz_map_call(t, result);
	case LZ_SC_FORK: return lz_child_writes(t);
	case LZ_SC_SIGRETURN: return after_sigreturn(t, r);
	}
	if (t->cur->call.nr == SYS_sched_getaffinity && lz_affinity_show(t, result) < 0)
		return -1;
	result = lz_wait_wake(t, result);
	if (lz_proc_files_show(t, &result) < 0 ||
	    (result != t->b.ev.result && set_result(t, r, t->b.ev.result = result) < 0))
		return -1;
	if (t->cur->call.nr == SYS_getcpu && lz_cpu_show(t, result) < 0)
		return -1;
	if (t->cur->call.nr == SYS_prctl && lz_insn_show(t, result) < 0)
		return -1;
	return lz_capture(t, result);
}

/* The kernel does not make these again by itself after a signal that has no effect. */
static bool is_cut_by_any(uint64_t nr)
{
	switch (nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg: return true;
	}
	return false;
}

/* Without us the kernel would have dropped a signal that is ignored, and the call would wait on.
 * With this result it is made again, its time beginning anew, unless a handler runs. */
int lz_call_wait_on(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_call *c = &t->cur->call;
	enum { ERESTARTNOHAND = 514 };

	if ((int64_t)r->rax != -EINTR || c->forced || !is_cut_by_any(c->nr) ||
	    !lz_signal_all_ignored(t))
		return 0;
	r->rax = (uint64_t)-ERESTARTNOHAND;
	return lz_proc_set_regs(&t->p, r);
}

/* Has nothing run since the registers were AT but what makes the call there again? */
static bool is_set_up_again(const struct user_regs_struct *at, const struct user_regs_struct *r)
{
	enum { RESTART_BLOCK = -516 };
	const uint64_t nr = (int64_t)at->rax == RESTART_BLOCK ? SYS_restart_syscall : at->orig_rax;
	struct user_regs_struct again = *at;

	again.rip -= LZ_CALL_INSN;
	again.rax = nr;
	again.orig_rax = r->orig_rax;
	again.eflags = r->eflags;
	return lz_restarts((int64_t)at->rax) && memcmp(&again, r, sizeof(again)) == 0;
}

int lz_call_not_again(struct lz_tracer *t, struct user_regs_struct *r)
{
	if (!t->cur->call.suspended || !is_set_up_again(&t->cur->at, r))
		return 0;
	*r = t->cur->at;
	return lz_proc_set_regs(&t->p, r) < 0 ? -1 : lz_instant_here(t, r);
}

/* Some never are, and have any number as their result. */
static bool is_made_again(const struct lz_call *c, int64_t result)
{
	const bool number = c->nr == SYS_lseek || (c->nr == SYS_fcntl && c->args[1] == F_GETOWN);

	return !c->forced && !number && c->row->klass != LZ_SC_SIGRETURN && lz_restarts(result);
}

int lz_call_exit(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_call *c = &t->cur->call;

	/* Who has got the turn for its end cannot wait on: another thread may have taken the signal since. */
	if ((!c->regained && lz_call_wait_on(t, r) < 0) || restore_arguments(t, r) < 0)
		return -1;
	/* it was made in a detour, or what comes back from a handler must get into one */
	if ((lz_site_of(&t->fast.sites, r->rip) || lz_site_behind(&t->fast.sites, r->rip)) &&
	    lz_proc_set_regs(&t->p, r) < 0)
		return -1;
	c->inside = false;
	if (c->forced && set_result(t, r, c->forced_result) < 0)
		return -1;
	if (is_made_again(c, (int64_t)r->rax)) {
		c->suspended = true;
		return lz_instant_here(t, r);
	}
	lz_blocked_drop(t->cur);
	if (build_call(t, (int64_t)r->rax) < 0 || by_class(t, r) < 0 ||
	    (!c->forced && lz_own_mem_call(t, (int64_t)r->rax) < 0) ||
	    lz_shared_call(t, (int64_t)r->rax) < 0 ||
	    (!c->forced && lz_stay_dumpable(t, (int64_t)r->rax) < 0))
		return -1;
	if (!t->b.ev.has_regs && (c->int80 || other_regs(&c->entry, r)) &&
	    lz_build_regs(t, r, false) < 0)
		return -1;
	if (!c->forced)
		lz_note_written_bytes(t);
	if (lz_build_commit(t) < 0)
		return -1;
	if (!c->forced)
		lz_signal_call_done(t, (int64_t)r->rax);
	if (lz_instant_here(t, r) < 0)
		return -1;
	t->cur->at_handler = !c->forced && c->row->klass == LZ_SC_SIGRETURN;
	/* After EINTR the kernel may hold a signal mask to be restored, which an injected call
	 * would lose. */
	if ((int64_t)r->rax != -EINTR && !t->cur->sig.armed && lz_stream_unfence(t) < 0)
		return -1;
	t->sched.point = true;
	lz_chaos_call(t);
	t->sched.yielded |= c->nr == SYS_sched_yield;
	if (c->nr == SYS_set_tid_address)
		t->cur->clear_tid = c->args[0];
	int ret = lz_checkpoint_maybe(t, r);
	lz_shared_unsettle(t);
	return ret < 0 ? -1 : lz_fast_after_call(t, r);
}

int lz_call_exec_done(struct lz_tracer *t, struct user_regs_struct *r)
{
	t->cur->call.inside = false;
	if (build_call(t, 0) < 0)
		return -1;
	if (t->follow.root)
		return lz_build_commit(t) < 0 ? -1 : 1;
	t->b.ev.flags = LZ_EVF_REBASE;
	if (t->cur->old_tid)
		t->b.ev.tid = t->cur->old_tid;
	t->cur->old_tid = 0;
	if (lz_build_regs(t, r, false) < 0 || lz_build_commit(t) < 0)
		return -1;
	return lz_new_image(t);
}
