/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's stops, one after the other. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/calls/filter.h"
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/code/code.h"
#include "tracer/follow/follow.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/shared_lock_page.h"
#include "tracer/run/run.h"
#include "tracer/signals/signals.h"
#include "tracer/state/state.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FLUSH_MS = 500,
	BRIEF_AGAIN_MS = 1, /* if the end of a brief wait was missed */
	GONE_MS = 200,      /* how long the end of one thread may take to be the end of all */
	ENDING_MS = 20,     /* how long the ends of all threads may take to be met */
	KILLED_MS = 20000
};

/* One process is traced, with one timer. */
static struct {
	uint64_t timer;      /* ns; 0: not set yet */
	uint64_t last_flush; /* ns */
	uint64_t last_ip;
} loop;

static int spin_ms(const struct lz_tracer *t)
{
	return t->s.mem ? LZ_SPIN_MS : LZ_SPIN_PLAIN_MS;
}

/* How long an instant is waited for. */
static uint64_t patience(const struct lz_tracer *t)
{
	return t->cur->sig.brief ? t->cur->sig.brief : (uint64_t)spin_ms(t) * 1000000;
}

/* LZ_WAKE only makes waitpid() return. */
static int set_timer(struct lz_tracer *t)
{
	bool slices = t->n_threads > 1 || t->shared_lock.held;
	long ms = t->cur->sig.armed ? spin_ms(t) : slices ? LZ_SPIN_MS : FLUSH_MS;
	if (t->sched.chaos.on && t->n_threads > 1)
		ms = LZ_SPIN_PLAIN_MS;
	ms = lz_mover_timer(t, lz_unrecorded_timer(t, ms));
	if (t->fast.page && ms > (long)lz_checkpoint_look_ms(t))
		ms = (long)lz_checkpoint_look_ms(t);

	const bool brief = t->cur->sig.armed && t->cur->sig.brief;
	const uint64_t every = (uint64_t)(brief ? BRIEF_AGAIN_MS : ms) * 1000000;
	const uint64_t first = brief ? t->cur->sig.brief : every;

	if (loop.timer == first)
		return 0;
	loop.timer = first;
	lz_alarmed = 1; /* set anew all the time it would never come */
	return lz_timer_set(first, every);
}

/* AUTO has become HASH: said once, and written down in case that we are killed. */
int lz_tell_hash(struct lz_tracer *t)
{
	if (t->hash_told || !lz_writer_flow_full(t->w))
		return 0;
	t->hash_told = true;
	lz_warn("%s: the control flow has reached %" PRIu64 " MB on disk: from here on only "
	        "checksums are kept, and debugging computes it again (--flow, --flow-limit)",
	        lz_writer_dir(t->w), t->opt->flow_limit >> 20);
	return lz_writer_meta(t->w, &t->meta);
}

/* As it was asked for. */
static int too_large(uint64_t max)
{
	int k = 0;

	while (k < 3 && max % 1024 == 0) {
		max /= 1024;
		k++;
	}
	return lz_fail("it has reached the size that --max-size allows, %" PRIu64 "%s", max,
	               (const char *const[]){" bytes", "K", "M", "G"}[k]);
}

static int flush(struct lz_tracer *t)
{
	uint64_t max = t->opt->keep_last ? 0 : t->opt->max_bytes;

	loop.last_flush = lz_now();
	lz_follow_tick(t);
	lz_writer_crowded(t->w, t->crowded);
	/* what the events have no place behind yet */
	lz_stream_offset(t);
	if (lz_fast_drain(t) < 0 || lz_stream_push(t) < 0 || lz_writer_flush(t->w) < 0 ||
	    lz_tell_hash(t) < 0)
		return -1;
	return max && lz_writer_size(t->w) >= max ? too_large(max) : 0;
}

/* The first process of a PID namespace waits in its end for all others, behind all that the
 * kernel stores for that end. */
static void let_others_end(struct lz_tracer *t)
{
	if (t->shared_lock.held && t->sched.dying && lz_thread_state_of(t, t->cur) == 'S')
		lz_shared_lock_leave(t);
}

/* Killed while it made a thread: of that one nothing was told. It stands where it begins or ends, and the
 * end of the first one, which alone is waited for, comes behind its own. */
static void let_unknown_end(struct lz_tracer *t)
{
	char path[64];
	struct dirent *e;
	int status;

	if (lz_threaded(t) || lz_thread_state_of(t, t->cur) != 'Z')
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->p.pid);
	DIR *d = opendir(path);
	while (d && (e = readdir(d))) {
		const pid_t tid = atoi(e->d_name);

		if (tid <= 0 || tid == t->p.pid)
			continue;
		/* its stop may have been met before */
		waitpid(tid, &status, WNOHANG | __WALL);
		ptrace(PTRACE_CONT, tid, 0, 0);
	}
	if (d)
		closedir(d);
}

int lz_tick(struct lz_tracer *t)
{
	uint64_t now = lz_now();

	lz_alarmed = 0; /* what is due is done here */
	if (lz_hand_sync(t) < 0 || lz_wait_tick(t) < 0)
		return -1;
	struct lz_thread_signals *s = &t->cur->sig;
	bool stuck = s->armed ? now - s->armed_since >= patience(t) : lz_sched_overdue(t, now);

	/* Again and again while nothing comes of it: a call made for us meanwhile may have
	 * swallowed the stop. */
	if (stuck) {
		if (ptrace(PTRACE_INTERRUPT, t->p.pid, 0, 0) == 0)
			s->interrupted = true;
	}
	let_others_end(t);
	let_unknown_end(t);
	lz_fast_tick(t);
	lz_mover_tick(t);
	if (lz_leases_look(t) < 0 || lz_unrecorded_look(t) < 0)
		return -1;
	return now - loop.last_flush >= FLUSH_MS * 1000000ULL ? flush(t) : 0;
}

/* 1: a stop; 0: the program sleeps in a call, or is long in it: others may have the shared
 * memory lock. */
static int before_sleep(struct lz_tracer *t, int *status)
{
	enum { TRIES = 100 };

	for (int i = 0; i < TRIES; i++) {
		sched_yield();
		if (waitpid(t->p.pid, status, WNOHANG | __WALL) == t->p.pid)
			return 1;
		char state = lz_thread_state_of(t, t->cur);
		if (state == 'S' || state == 'D')
			break;
	}
	lz_shared_lock_leave(t);
	return 0;
}

/* A program that stops all the time leaves no alarm to waitpid(). */
static int flush_at_stop(struct lz_tracer *t)
{
	if (!lz_alarmed)
		return 0;
	lz_alarmed = 0;
	lz_mover_tick(t);
	if (lz_leases_look(t) < 0 || lz_unrecorded_look(t) < 0)
		return -1;
	return lz_now() - loop.last_flush >= FLUSH_MS * 1000000ULL ? flush(t) : 0;
}

/* 1: none, but another thread has the turn. */
static int next_stop(struct lz_tracer *t, int *status)
{
	if (t->cur->has_pending_status) {
		t->cur->has_pending_status = false;
		*status = t->cur->pending_status;
		return 0;
	}
	if (set_timer(t) < 0)
		return -1;
	if (lz_threaded(t))
		return lz_turn_wait(t, status);
	if (t->shared_lock.held && lz_call_may_sleep(&t->cur->call) && before_sleep(t, status))
		return 0;
	for (;;) {
		pid_t got = lz_full_waitpid(t, t->p.pid, status, __WALL);
		t->fast.n_stops += got == t->p.pid;
		if (got == t->p.pid)
			return 0;
		if (got < 0 && errno != EINTR)
			return lz_fail_errno("cannot wait for the program");
		if (lz_tick(t) < 0)
			return -1;
	}
}

static int ended(struct lz_tracer *t, int status)
{
	t->ended = true;
	t->status = status;
	lz_signals_done();
	lz_shared_lock_leave(t);
	lz_follow_gone(t);
	if (lz_fast_drain(t) < 0 || lz_leases_end(t) < 0 || lz_stream_push(t) < 0 ||
	    lz_build(t, LZ_EV_EXIT, loop.last_ip) < 0)
		return -1;
	t->b.ev.status = (uint32_t)status;
	return lz_build_commit(t);
}

static int at_exec_exit(struct lz_tracer *t, struct user_regs_struct *r)
{
	t->exec_pending = false;
	int apart = lz_call_exec_done(t, r);
	if (apart <= 0)
		return apart;
	return lz_next_recording(t) < 0 ? -1 : lz_new_image(t);
}

/* *SIG: with which signal a call is over that a filter of the program has judged. */
static int at_call(struct lz_tracer *t, int *sig)
{
	struct user_regs_struct r;

	if (t->cur->parked ? lz_wait_over(t, &r) < 0 : lz_proc_regs(&t->p, &r) < 0)
		return -1;
	loop.last_ip = r.rip;
	if (t->exec_pending)
		return at_exec_exit(t, &r);
	if (!t->cur->call.inside)
		return lz_call_entry(t, &r);
	if (lz_call_exit(t, &r) < 0)
		return -1;
	*sig = lz_filter_signal(t);
	return *sig < 0 ? -1 : 0;
}

/* The old address space is gone, its last markers are still in the buffer. */
static int at_exec(struct lz_tracer *t)
{
	if (lz_stream_push(t) < 0)
		return -1;
	lz_threads_exec(t);
	lz_stream_forget(t);
	lz_armed_forget(t);
	if (lz_leases_end(t) < 0)
		return -1;
	lz_fast_forget(t);
	lz_pages_free(t->pages);
	t->pages = NULL;
	t->exec_pending = true;
	pid_t pid = t->p.pid;
	lz_proc_close(&t->p);
	return lz_proc_open(&t->p, pid);
}

/* LEFT: it was waiting in the stub. */
static int at_interrupt(struct lz_tracer *t, bool left)
{
	struct lz_thread_signals *s = &t->cur->sig;
	struct user_regs_struct r;
	bool asked = s->interrupted;

	s->interrupted = s->stop_due = false;
	if (t->cur->call.inside || t->cur->call.suspended || lz_signal_fault_pending(t) ||
	    lz_proc_regs(&t->p, &r) < 0)
		return 0;
	if (asked && left) {
		int begun = lz_step_begin(t, &r);
		if (begun)
			return begun < 0 ? -1 : 0;
	}
	/* behind a group stop */
	if (t->shared_lock.held && t->shared_lock.news && lz_at_instant(t, &r))
		return lz_shared_lock_log(t);
	if (!asked) {
		s->spin &= s->n_sent > 0;
		return 0;
	}
	if (s->armed && s->brief)
		return lz_signal_brief_over(t, &r);
	/* With chaos there has been time enough for a marker. */
	if (!t->cur->sig.armed && !t->sched.chaos.on &&
	    (lz_sched_due(t) || lz_shared_lock_due(t, 0)) && !lz_at_instant(t, &r)) {
		int named = lz_anywhere(t, &r);

		if (named <= 0)
			return named < 0 ? -1 : lz_signal_arm(t);
	}
	return lz_signal_spin(t, &r);
}

/* What others store meanwhile must have an instant: the stop is put off until the program is at
 * one. */
static int at_group_stop(struct lz_tracer *t, int *request)
{
	struct lz_thread *cur = t->cur;
	struct user_regs_struct r;

	cur->sig.interrupted = cur->sig.stop_due = false;
	if (t->shared_lock.held && !cur->call.inside && !cur->call.suspended &&
	    lz_proc_regs(&t->p, &r) == 0 && !lz_at_instant(t, &r)) {
		cur->sig.stop_due = true;
		if (lz_signal_fault_pending(t)) /* an instant, or a handler's beginning */
			return 0;
		return lz_signal_arm(t) < 0 ? -1 : lz_signal_spin(t, &r);
	}
	*request = PTRACE_LISTEN;
	cur->listening = true;
	return lz_turn_halt(t);
}

/* The kernel has kept in mind that the group stops. */
static void stop_if_due(struct lz_tracer *t)
{
	struct user_regs_struct r;

	if (t->cur->sig.stop_due && !t->cur->call.inside && lz_proc_regs(&t->p, &r) == 0 &&
	    lz_at_instant(t, &r))
		ptrace(PTRACE_INTERRUPT, t->p.pid, 0, 0);
}

static int at_exit_event(struct lz_tracer *t)
{
	struct user_regs_struct r;

	if (lz_proc_regs(&t->p, &r) == 0)
		loop.last_ip = lz_fast_shown(t, &r);
	if (lz_stream_push(t) < 0)
		return -1;
	if (t->cur->call.inside && t->cur->call.ends_thread && t->n_threads > 1 && !t->sched.dying)
		return lz_thread_end(t);
	t->sched.dying = true;
	return 0;
}

/* How long to wait for the end. Nothing but SIGKILL takes a thread out of its stop, at once;
 * what comes then may take its time on a busy machine. */
static int gone_ms(struct lz_tracer *t)
{
	char state = lz_thread_state_of(t, t->cur);
	unsigned long ignored;

	/* without a descriptor for that, a thread that stands can be asked */
	if (!state && ptrace(PTRACE_GETEVENTMSG, t->p.pid, 0, &ignored) == 0)
		state = 't';
	if (state != 't')
		return KILLED_MS;
	return lz_threaded(t) ? GONE_MS : 0;
}

/* Ends that were met while another thread was waited for hold up the end of all. */
static void let_end(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];

		if (th->has_pending_status && th->pending_status >> 16 == PTRACE_EVENT_EXIT)
			ptrace(PTRACE_CONT, (pid_t)th->tid, 0, 0);
	}
}

bool lz_process_gone(struct lz_tracer *t, int *status)
{
	bool threaded = lz_threaded(t);

	for (int idle = 0;;) {
		pid_t got = waitpid(threaded ? -1 : t->p.pid, status, WNOHANG | __WALL);
		if (got < 0 && errno == ECHILD) { /* met while it made a call for us */
			*status = SIGKILL;
			return true;
		}
		if (got == 0 && idle++ < gone_ms(t)) {
			if (idle == ENDING_MS && gone_ms(t) == KILLED_MS)
				let_end(t);
			usleep(1000);
			continue;
		}
		if (got <= 0)
			return false;
		if (!WIFSTOPPED(*status)) {
			if (got == (pid_t)t->tid)
				return true;
			continue;
		}
		if (*status >> 16 == PTRACE_EVENT_EXIT && ptrace(PTRACE_CONT, got, 0, 0) == 0)
			continue;
		/* whoever lets the program go must know that this one stands */
		struct lz_thread *th = lz_thread_find(t, got);
		if (!th)
			return false;
		th->running = false;
		th->has_pending_status = true;
		th->pending_status = *status;
		if (th == t->cur)
			return false;
		th->ready = true;
	}
}

/* *request: how to go on; *sig: with which signal. */
static int at_stop(struct lz_tracer *t, int status, int *request, int *sig)
{
	int stopsig = WSTOPSIG(status);
	int left = status >> 16 == PTRACE_EVENT_EXIT ? 0 : lz_fast_leave_wait(t);

	if (left < 0)
		return -1;
	switch (status >> 16) {
	case 0: break;
	case PTRACE_EVENT_EXEC: return at_exec(t);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: return lz_child_new(t, status >> 16);
	case PTRACE_EVENT_EXIT: return at_exit_event(t);
	case PTRACE_EVENT_STOP:
		if (stopsig == SIGTRAP)
			return at_interrupt(t, left);
		return at_group_stop(t, request);
	default: return 0;
	}
	if (stopsig == (SIGTRAP | 0x80))
		return at_call(t, sig);
	return lz_signal_stop(t, stopsig, sig);
}

static int resume(struct lz_tracer *t, int request, int sig)
{
	if (t->cur->has_pending_status || t->cur->ended || t->cur->parked)
		return 0;
	if (lz_leases_at_stop(t) < 0 || lz_clock_settle(t, !sig && request != PTRACE_LISTEN) < 0)
		return -1;
	request = lz_fast_resume(t, request);
	if (request < 0)
		return -1;
	if (ptrace(request, t->p.pid, 0, sig) < 0 && errno != ESRCH)
		return lz_fail_errno("cannot resume the program");
	t->cur->running = true;
	return 0;
}

/* Where it stands others may go on; so may they where the next one begins. */
static int at_points(struct lz_tracer *t)
{
	while (t->sched.point)
		if (lz_turn_at_point(t) < 0)
			return -1;
	return 0;
}

/* SIGKILL can end it in the middle of anything. 1: it has. */
static int failed(struct lz_tracer *t, int *status)
{
	return lz_process_gone(t, status) ? 1 : -1;
}

int lz_loop(struct lz_tracer *t)
{
	int request = PTRACE_SYSCALL, sig = 0, status, none, aside;

	loop.last_flush = lz_now();
	for (;;) {
		if (resume(t, request, sig) < 0)
			return -1;
		if (request == PTRACE_LISTEN)
			lz_jobs_stopped(t);
		if ((none = next_stop(t, &status)) < 0)
			return t->sched.dying && failed(t, &status) > 0 ? ended(t, status) : -1;
		request = PTRACE_SYSCALL;
		sig = 0;
		if (none && at_points(t) < 0)
			return failed(t, &status) > 0 ? ended(t, status) : -1;
		if (none)
			continue;
		if (!WIFSTOPPED(status))
			return ended(t, status);
		t->cur->listening = t->cur->running = false;
		if ((aside = lz_alarmed ? 0 : lz_full_set_aside(t, status)) > 0)
			continue;
		if (aside < 0 || lz_fast_stopped(t) < 0 || lz_signal_open(t) < 0 ||
		    lz_step_stopped(t, &status) < 0 || lz_fast_made(t, &status) < 0) {
			t->cur->has_pending_status = true;
			t->cur->pending_status = status;
			return failed(t, &status) > 0 ? ended(t, status) : -1;
		}
		if (lz_shared_lock_enter(t) < 0)
			return -1;
		if (at_stop(t, status, &request, &sig) < 0 || at_points(t) < 0)
			return failed(t, &status) > 0 ? ended(t, status) : -1;
		if (t->ended)
			return ended(t, t->status);
		stop_if_due(t);
		/* not with a signal to be delivered, which would be lost if recording ended here */
		if (!sig && request == PTRACE_SYSCALL && flush_at_stop(t) < 0)
			return -1;
		if (t->shared_lock.held && (request == PTRACE_LISTEN || !lz_shared_lock_needed(t)))
			lz_shared_lock_leave(t);
	}
}
