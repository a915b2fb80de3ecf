/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events in re-execution: is this the one that the log has next, and applying it. */
#include "replayer/engine/calls.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/syscalls.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <errno.h>

/* Beyond this many arrivals a spin is continued from its checkpoint: each costs a stop. */
enum { SPIN_LIMIT = 5000 };
/* So many arrivals at an address are looked at for the one that has the recorded state; in code
 * without markers so many. */
enum { STATE_LIMIT = 1 << 20, UNMARKED_LIMIT = 1 << 24 };

/* At a stop that the next event may explain. */
static int synced(struct lz_engine *e)
{
	const struct lz_event *ev = e->event < lz_reader_n_events(e->rp->reader)
	                                ? lz_reader_event(e->rp->reader, e->event)
	                                : NULL;
	int ret = lz_engine_sync_to(e, ev ? ev->marker : 0);

	return ret > 0 ? LZ_HALT_DIVERGED : ret;
}

static int diverged(int ret)
{
	return ret < 0 ? -1 : LZ_HALT_DIVERGED;
}

/* ---- spins ---- */

/* Memory differed there at the arrival before: if it still does, that is all there is to look
 * at. */
static bool still_missed(struct lz_engine *e)
{
	uint8_t now;

	return e->spin_hits > 1 && e->miss.addr && lz_engine_read(e, e->miss.addr, &now, 1) == 1 &&
	       now != e->miss.want;
}

/* The pages that the checkpoint lists have changed since the one before; in between others may
 * have changed and changed back. 1: differs. */
static int compare_all(struct lz_engine *e, uint32_t index)
{
	uint64_t pages = 0;
	char *what = NULL;

	lz_engine_unbreak(e);
	int ret = lz_engine_compare(e, index, false, &pages, &what);
	if (!ret)
		ret = lz_engine_compare(e, index, true, &pages, &what);
	free(what);
	return ret;
}

static int spin_here(struct lz_engine *e)
{
	struct lz_reader *r = e->rp->reader;
	uint32_t i = lz_reader_checkpoint_before(r, e->event, e->marker);
	const struct lz_checkpoint *ck =
	    i < lz_reader_n_checkpoints(r) ? lz_reader_checkpoint(r, i) : NULL;

	if (!ck || ck->pos.event != e->event || ck->pos.marker != e->marker ||
	    ck->pos.ip != e->regs.rip)
		return lz_fail("no checkpoint names the instant of event %lu",
		               (unsigned long)e->event);
	/* whoever counts arrivals or looks for changes must see all of it */
	bool watched = e->want.ip || e->breaks.n || e->debug.user[0].kind || e->guarded.n;
	if (++e->spin_hits > SPIN_LIMIT && !watched) {
		e->spin_hits = 0;
		return lz_engine_jump_spin(e, i) < 0 ? -1 : LZ_HALT_EVENT;
	}
	if (!lz_regs_equal(&ck->threads[0].regs, &e->regs) || still_missed(e))
		return 0;
	int ret = compare_all(e, i);
	if (ret == 0)
		e->spin_hits = 0;
	return ret < 0 ? -1 : ret ? 0 : LZ_HALT_EVENT;
}

bool lz_event_arrives(const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SIGNAL && ev->flags & LZ_EVF_SYNC && ev->signo == SIGTRAP;
}

/* ---- what the program does by itself ---- */

static int check_args(struct lz_engine *e, const struct lz_event *ev)
{
	const struct user_regs_struct *r = &e->regs;
	const uint64_t got[6] = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9};
	const struct lz_syscall *row = lz_syscall(ev->nr);
	unsigned n = row ? row->n_args : 6;

	for (unsigned i = 0; i < n && i < 6; i++)
		if (got[i] != ev->args[i])
			return lz_engine_diverge(
			    e, "%s was called with argument %u = %#lx, recorded was %#lx",
			    lz_syscall_name(ev->nr), i + 1, (unsigned long)got[i],
			    (unsigned long)ev->args[i]);
	return 0;
}

static int check_call(struct lz_engine *e, const struct lz_event *ev, uint64_t nr)
{
	char got[64];

	snprintf(got, sizeof got, "%s", lz_syscall_name(nr));
	if (ev->kind != LZ_EV_SYSCALL && !(ev->kind == LZ_EV_SWITCH && ev->flags & LZ_EVF_IN_CALL))
		return lz_engine_diverge(e,
		                         "the program called %s at %#lx; recorded was no system "
		                         "call but an event of kind %u at %#lx",
		                         got, (unsigned long)e->regs.rip, ev->kind,
		                         (unsigned long)ev->ip);
	if (ev->nr != nr)
		return lz_engine_diverge(
		    e, "the program called %s at %#lx; recorded was %s at %#lx", got,
		    (unsigned long)e->regs.rip, lz_syscall_name(ev->nr), (unsigned long)ev->ip);
	if (ev->ip != e->regs.rip)
		return lz_engine_diverge(e, "%s was called from %#lx, recorded was %#lx", got,
		                         (unsigned long)e->regs.rip, (unsigned long)ev->ip);
	if (ev->marker != e->marker)
		return lz_engine_diverge(
		    e, "%s was called after %lu bytes of markers, recorded were %lu", got,
		    (unsigned long)e->marker, (unsigned long)ev->marker);
	return check_args(e, ev);
}

/* Nothing runs before the next event: the end of the call that the thread is inside of, or the
 * switch to another thread from one that has ended. */
static int kernel_due(struct lz_engine *e)
{
	const struct lz_end *end = &e->rp->end;
	const struct lz_context *t = lz_contexts_running(&e->threads);

	if (e->event >= end->event && end->kind == LZ_END_CUT)
		return LZ_HALT_END;
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	if (!ev)
		return -1;
	if (ev->flags & LZ_EVF_FATAL)
		return LZ_HALT_EVENT;
	int ret;
	if (!e->gone && ev->kind == LZ_EV_SYSCALL)
		ret = check_call(e, ev, t->call == LZ_NO_CALL ? ev->nr : t->call);
	else if (e->gone && ev->kind == LZ_EV_SWITCH)
		ret = lz_engine_check_switch(e, ev);
	else
		ret =
		    lz_engine_diverge(e, "thread %u %s; recorded is an event of kind %u", t->tid,
		                      e->gone ? "has ended" : "is inside a system call", ev->kind);
	return ret ? diverged(ret) : LZ_HALT_EVENT;
}

/* The instant of event EV is here. */
static int due_here(struct lz_engine *e)
{
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);

	if (!ev)
		return -1;
	int ret = ev->kind == LZ_EV_SWITCH ? lz_engine_check_switch(e, ev) : 0;
	return ret ? diverged(ret) : LZ_HALT_EVENT;
}

/* An arrival at the next event's address that is not the one meant. */
static int missed(struct lz_engine *e)
{
	if (++e->next.missed < (e->next.has_pages ? UNMARKED_LIMIT : STATE_LIMIT))
		return 0;
	return diverged(lz_engine_diverge(e,
	                                  "control has come to %#lx %u times, never with the "
	                                  "registers and the stack that are recorded there",
	                                  (unsigned long)e->next.ip, e->next.missed));
}

int lz_engine_due(struct lz_engine *e)
{
	const struct lz_end *end = &e->rp->end;

	if (e->event == end->event && end->kind == LZ_END_CUT && e->marker >= end->marker)
		return LZ_HALT_END;
	if (e->event == end->event && end->kind == LZ_END_CALL && e->marker == end->marker &&
	    e->regs.rip == end->ip)
		return LZ_HALT_END;
	if (e->trapped)
		return LZ_HALT_EVENT;
	if (lz_engine_in_kernel(e))
		return kernel_due(e);
	lz_engine_peek_next(e);
	if (!e->next.async || e->next.marker != e->marker || e->next.ip != e->regs.rip)
		return 0;
	int there = e->next.has_state ? lz_engine_is_meant(e) : 1;
	if (there <= 0)
		return there < 0 ? -1 : missed(e);
	int ret = e->next.flags & LZ_EVF_SPIN ? spin_here(e) : LZ_HALT_EVENT;
	return ret == LZ_HALT_EVENT ? due_here(e) : ret;
}

int lz_engine_at_call(struct lz_engine *e)
{
	int ret = synced(e);

	if (ret)
		return ret;
	if (e->event == e->rp->end.event && e->rp->end.kind == LZ_END_CUT)
		return LZ_HALT_END;
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	if (!ev)
		return diverged(lz_engine_diverge(e,
		                                  "the program called %s; nothing more is recorded",
		                                  lz_syscall_name(e->regs.orig_rax)));
	ret = check_call(e, ev, e->regs.orig_rax);
	if (!ret && ev->kind == LZ_EV_SWITCH)
		ret = lz_engine_check_switch(e, ev);
	if (ret)
		return diverged(ret);
	return e->event == e->rp->end.event ? LZ_HALT_END : LZ_HALT_EVENT;
}

int lz_engine_at_fault(struct lz_engine *e, int signo)
{
	int ret = synced(e);

	if (ret)
		return ret;
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	bool here = ev && ev->ip == e->regs.rip && ev->marker == e->marker;
	if (here && ev->kind == LZ_EV_INSN && signo == SIGSEGV)
		return LZ_HALT_EVENT;
	if (here && ev->kind == LZ_EV_SIGNAL && ev->signo == (uint32_t)signo) {
		e->trapped = lz_event_arrives(ev);
		return LZ_HALT_EVENT;
	}
	return diverged(lz_engine_diverge(e,
	                                  "the program got signal %d (%s) at %#lx, which is not "
	                                  "recorded there",
	                                  signo, strsignal(signo), (unsigned long)e->regs.rip));
}

/* ---- applying ---- */

/* Resumed from another stop, the program would run, and make its calls. */
static int check_call_stop(const struct lz_engine *e)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, e->proc.pid, 0, &info) < 0)
		return lz_fail_errno("cannot ask why the replay process stopped");
	return info.si_code == (SIGTRAP | 0x80)
	           ? 0
	           : lz_fail("the replay process is not at a system call");
}

/* From the entry stop to the exit stop of a call that is not made. */
int lz_engine_leave_call(struct lz_engine *e)
{
	int status;

	if (!e->in_call)
		return 0;
	e->in_call = false;
	e->regs_dirty = true;
	if (e->calls.barred) {
		e->calls.barred = false;
		return 0;
	}
	if (check_call_stop(e) < 0)
		return -1;
	if (ptrace(PTRACE_SYSCALL, e->proc.pid, 0, 0) < 0)
		return lz_fail_errno("cannot finish a system call of the replay process");
	if (lz_engine_wait(e, &status) < 0)
		return -1;
	return WSTOPSIG(status) == (SIGTRAP | 0x80)
	           ? 0
	           : lz_fail("a system call of the replay process did not end");
}

/* The write pointer that a signal's delivery, a switch, or a wait for other processes has put
 * into __lizard_pos: if it is the next buffer's base, this one had just been found full (the
 * marker store that was interrupted did not fit). */
static int take_before_async(struct lz_engine *e, const struct lz_event *ev)
{
	uint64_t pos, at = lz_engine_pos_addr(e, ev->kind == LZ_EV_SWITCH ? &ev->regs : &e->regs);

	if (ev->kind == LZ_EV_SYSCALL || ev->kind == LZ_EV_INSN || !e->buffer.base || !at)
		return 0;
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];
		if (w->addr != at || w->len != sizeof pos)
			continue;
		memcpy(&pos, w->bytes, sizeof pos);
		return pos == lz_ring_next(e->buffer.base) ? lz_engine_take_buffer(e) : 0;
	}
	return 0;
}

static int meet_hello(struct lz_engine *e, const struct lz_event *ev)
{
	uint64_t base;

	if (ev->kind != LZ_EV_SYSCALL || !lz_hello_version(ev->nr, ev->args))
		return 0;
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];
		if (w->addr != ev->args[2] || w->len != sizeof base)
			continue;
		memcpy(&base, w->bytes, sizeof base);
		if (base % LZ_BUFFER_SIZE || base >= (1ULL << 47) - LZ_RING_SIZE - LZ_SINK_PAD)
			return lz_fail("the hello call's marker buffer %#lx is not valid",
			               (unsigned long)base);
		lz_ring_drop(e);
		e->buffer.base = base;
		e->buffer.hello = true;
		e->buffer.pos_offset = ev->args[3];
		e->buffer.start = e->marker;
		lz_space_set_role(&e->space, base, base + LZ_RING_SIZE + LZ_SINK_PAD,
		                  LZ_VMA_BUFFER);
	}
	return 0;
}

static int do_event(struct lz_engine *e, const struct lz_event *ev)
{
	uint64_t syscall_insn = e->proc.syscall_insn;

	lz_engine_regs(e);
	if (lz_calls_make_way(e, ev) < 0)
		return -1;
	if (lz_fake_needs_calls(&e->space, ev) && lz_engine_leave_call(e) < 0)
		return -1;
	if (ev->n_ops && lz_engine_unguard(e) < 0)
		return -1;
	if (take_before_async(e, ev) != 0)
		return -1;
	struct user_regs_struct regs = *lz_engine_regs(e);
	if (ev->kind == LZ_EV_SWITCH && lz_engine_switch(e, ev) < 0)
		return -1;
	if (lz_fake_event(&e->proc, e->rp->reader, &e->space, ev, &regs) < 0)
		return -1;
	e->proc.syscall_insn = syscall_insn;
	e->regs = regs;
	e->regs_dirty = true;
	if (ev->xstate_len && lz_proc_set_xstate(&e->proc, ev->xstate, ev->xstate_len) < 0)
		return -1;
	if (meet_hello(e, ev) < 0 || lz_engine_after_call(e, ev) < 0)
		return -1;
	e->event++;
	e->time_ns = ev->time_ns;
	e->trapped = false;
	return 0;
}

int lz_engine_apply(struct lz_engine *e, struct lz_halt *h)
{
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	bool moved, again = false, goes_on = false;

	if (!ev || ev->flags & LZ_EVF_FATAL)
		return lz_fail("no event can be applied here");
	if (ev->tid != lz_engine_tid(e) && !(ev->flags & LZ_EVF_REBASE))
		return lz_fail("event %lu is thread %u's, but thread %u runs",
		               (unsigned long)e->event, ev->tid, lz_engine_tid(e));
	moved = ev->has_regs || ev->kind == LZ_EV_SYSCALL;
	if (ev->kind == LZ_EV_SWITCH) {
		const struct lz_context *t = lz_contexts_find(&e->threads, ev->next);
		goes_on = t && !t->fresh;
	}
	if (ev->flags & LZ_EVF_REBASE) {
		lz_engine_unbreak(e);
		if (lz_engine_rebase(e) < 0)
			return -1;
	} else {
		if (e->breaks.in && (ev->n_ops || ev->n_writes)) {
			lz_engine_unbreak(e);
			again = true;
		}
		if (do_event(e, ev) < 0)
			return lz_fail_in("applying event %lu", (unsigned long)e->event);
		if (again)
			lz_engine_insert(e);
	}
	if (h && moved && !lz_engine_in_kernel(e))
		h->flags |= (e->want.ip && e->regs.rip == e->want.ip ? LZ_HALT_EXEC : 0) |
		            (lz_engine_has_break(e, e->regs.rip) ? LZ_HALT_BREAK : 0) |
		            (goes_on ? LZ_HALT_GOES_ON : 0);
	return 0;
}
