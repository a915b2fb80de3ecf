/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving forward: run and step. */
#include "replayer/session/output.h"
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <stdlib.h>
#include <string.h>

void lz_session_fill(struct lz_session *s, struct lz_stop *stop, enum lz_stop_reason reason)
{
	*stop = (struct lz_stop){.reason = reason, .pos = s->pos};
}

/* ---- signals and other events ---- */

/* Must the run stop before this event? */
static bool tells(const struct lz_session *s, const struct lz_event *ev)
{
	return s->signal_told != ev->index + 1 && lz_session_tells(s, ev);
}

static void stop_end(struct lz_session *s, struct lz_stop *stop)
{
	s->at_end = true;
	lz_session_fill(s, stop, LZ_STOP_END);
}

static void stop_signal(struct lz_session *s, const struct lz_event *ev, struct lz_stop *stop)
{
	lz_session_fill(s, stop, LZ_STOP_SIGNAL);
	stop->signo = ev->signo;
	s->signal_told = ev->index + 1;
}

/* ---- where a run came to ---- */

/* Counts from E (at FROM's instant, COUNT arrivals at IP so far) until an event or a watched
 * change. */
static int64_t count_on(struct lz_session *s, struct lz_engine *e, uint64_t ip, int64_t count,
                        bool watch)
{
	struct lz_halt h = {0};

	if (watch && lz_watch_arm(s, e) < 0)
		return -1;
	e->want.ip = ip;
	for (;;) {
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		count += !!(h.flags & LZ_HALT_EXEC);
		if (h.flags & LZ_HALT_WATCH && watch && lz_watch_check(s, e, &h))
			return count;
		if (h.flags & LZ_HALT_EVENT) {
			const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
			return count + (ev && lz_event_arrives(ev));
		}
		if (h.flags & LZ_HALT_END)
			return count;
		if (h.flags & (LZ_HALT_INTERRUPT | LZ_HALT_DIVERGED))
			return lz_fail("the present instant is not found again");
	}
}

/* The count of arrivals at the present address, after a run from PREV that stopped in the middle
 * of a gap for a fault or a watched change. */
static int64_t count_here(struct lz_session *s, const struct lz_pos *prev, bool watch)
{
	struct lz_engine *now = s->e, *e;
	uint64_t ip = now->regs.rip;
	int64_t count;
	int ret = 0;

	if (now->event == prev->event && now->marker == prev->marker) {
		count = lz_session_count(s, ip);
		if (count < 0)
			return -1;
		e = lz_session_engine_at(s, prev->event, prev->marker, &ret);
		int64_t before = prev->n ? prev->n : lz_session_count(s, prev->ip);
		if (e)
			ret = before < 0 ? -1
			                 : lz_engine_to_arrival(e, prev->ip, (uint32_t)before,
			                                        e->regs.rip == prev->ip);
	} else {
		e = lz_session_engine_at(s, now->event, now->marker, &ret);
		count = e && e->regs.rip == ip;
	}
	if (ret || !e) {
		lz_engine_free(e);
		return ret < 0 ? -1 : lz_fail("the present instant is not found again");
	}
	count = count_on(s, e, ip, count, watch);
	lz_engine_free(e);
	return count > 0 ? count : count < 0 ? -1 : lz_fail("the present instant is lost");
}

/* Is it as far from the gap's start as an instant that was not counted? */
static bool is_uncounted(const struct lz_session *s, const struct lz_pos *prev)
{
	return s->trail.place && s->e->event == prev->event && s->e->marker == prev->marker;
}

/* After a stop at a breakpoint, which every arrival at its address since PREV would have caused but
 * for those at which its condition did not hold. */
static int came_to_break(struct lz_session *s, const struct lz_pos *prev)
{
	struct lz_engine *e = s->e;
	int64_t n = (int64_t)lz_session_gone_past(s) + 1;

	if (is_uncounted(s, prev))
		return lz_engine_settle(e) < 0 ? -1 : lz_session_arrived_uncounted(s);
	if (e->event == prev->event && e->marker == prev->marker) {
		int64_t before = lz_session_count(s, e->regs.rip);
		if (before < 0)
			return -1;
		n += before;
	}
	if (lz_engine_settle(e) < 0)
		return -1;
	lz_session_arrived(s, (uint32_t)n, false);
	return 0;
}

static int came_to(struct lz_session *s, const struct lz_pos *prev, bool watch)
{
	if (watch && is_uncounted(s, prev))
		return lz_session_arrived_uncounted(s);
	int64_t n = count_here(s, prev, watch);

	if (n < 0)
		return -1;
	lz_session_arrived(s, (uint32_t)n, false);
	return 0;
}

/* An interrupt comes anywhere: back to the start of the gap, which has a name. */
static int came_anywhere(struct lz_session *s, const struct lz_pos *prev)
{
	uint64_t event = s->e->event, marker = s->e->marker;

	s->rp.interrupted = false;
	if (event == prev->event && marker == prev->marker)
		return lz_session_restore(s, prev);
	lz_session_deafen(s);
	int ret = lz_session_seek_gap(s, event, marker);
	lz_session_hear(s);
	return ret;
}

/* ---- run ---- */

struct run {
	struct lz_session *s;
	struct lz_pos prev;
	struct lz_stop *stop;
	uint32_t until; /* a thread that is to have its turn; 0: none */
};

enum { ITS_TURN = 2 };

/* After an event (CALL: a system call) in a run until a thread has its turn: does it have it,
 * can it still get it? */
static int meet_thread(struct run *r, bool call)
{
	struct lz_session *s = r->s;

	if (lz_engine_in_kernel(s->e))
		return 0;
	if (!lz_contexts_find(&s->e->threads, r->until)) {
		lz_session_arrived(s, 1, true);
		lz_session_fill(s, r->stop, LZ_STOP_THREAD_END);
		return 1;
	}
	if (lz_engine_tid(s->e) != r->until)
		return 0;
	lz_session_arrived(s, 1, true);
	/* the call that it was inside of is done now */
	lz_session_fill(s, r->stop, LZ_STOP_STEP);
	return call ? 1 : ITS_TURN;
}

/* A thread goes on at a breakpoint that it has arrived at before: not to be told again, but an
 * arrival of this gap. */
static void go_on_here(struct run *r, struct lz_halt *h)
{
	h->flags &= ~(unsigned)LZ_HALT_BREAK;
	lz_session_arrived(r->s, 1, true);
	r->s->away = true;
	r->prev = r->s->pos;
}

static int run_event(struct run *r)
{
	struct lz_session *s = r->s;
	const struct lz_event *ev = lz_reader_event(s->rp.reader, s->e->event);
	struct lz_halt h = {0};

	if (!ev)
		return -1;
	if (tells(s, ev)) {
		bool counted = lz_event_counted(ev);
		bool here = s->e->event == r->prev.event && s->e->marker == r->prev.marker &&
		            s->e->regs.rip == r->prev.ip && !counted;
		if (here) {
			int64_t n = r->prev.n ? r->prev.n : lz_session_count(s, r->prev.ip);
			if (n < 0)
				return -1;
			lz_session_arrived(s, (uint32_t)n, lz_session_at_gap(s));
		} else if (!counted)
			lz_session_arrived(s, 1, false);
		else if ((ev->flags & LZ_EVF_SPIN ? came_to(s, &r->prev, false)
		                                  : lz_session_arrived_at_event(s)) < 0)
			return -1;
		stop_signal(s, ev, r->stop);
		return 1;
	}
	if (ev->flags & LZ_EVF_FATAL) {
		stop_end(s, r->stop);
		return 1;
	}
	lz_session_passes(s, ev);
	bool call = ev->kind == LZ_EV_SYSCALL;
	bool executes = s->by_program && ev->flags & LZ_EVF_REBASE;
	if (lz_engine_apply(s->e, &h) < 0)
		return -1;
	struct lz_user_watch *w = lz_watch_check(s, s->e, NULL);
	if (h.flags & LZ_HALT_GOES_ON && h.flags & LZ_HALT_BREAK && !w)
		go_on_here(r, &h);
	if (h.flags & LZ_HALT_BREAK && !w && lz_session_goes_past(s))
		h.flags &= ~(unsigned)LZ_HALT_BREAK;
	if (w || h.flags & LZ_HALT_BREAK) {
		lz_session_arrived(s, 1, true);
		lz_session_fill(s, r->stop, w ? LZ_STOP_WATCH : LZ_STOP_BREAKPOINT);
		r->stop->watch_addr = w ? w->addr : 0;
		r->stop->watch_kind = w ? w->kind : 0;
		return 1;
	}
	if (executes) {
		lz_session_arrived(s, 1, true);
		lz_session_fill(s, r->stop, LZ_STOP_EXEC);
		return 1;
	}
	int ret = r->until ? meet_thread(r, call) : 0;
	return ret ? ret : lz_snapshot_maybe(s, s->e);
}

static int run_end(struct run *r)
{
	struct lz_session *s = r->s;
	bool gap = s->rp.end.kind == LZ_END_CUT;

	if (s->e->event != r->prev.event || s->e->marker != r->prev.marker ||
	    s->e->regs.rip != r->prev.ip)
		lz_session_arrived(s, 1, gap);
	stop_end(s, r->stop);
	return 1;
}

static int run_watch(struct run *r, const struct lz_halt *h)
{
	struct lz_user_watch *w = lz_watch_check(r->s, r->s->e, h);

	if (!w)
		return 0;
	struct lz_user_watch found = *w;
	if (came_to(r->s, &r->prev, true) < 0)
		return -1;
	lz_session_fill(r->s, r->stop, LZ_STOP_WATCH);
	r->stop->watch_addr = found.addr;
	r->stop->watch_kind = found.kind;
	return 1;
}

static int run_marker(struct run *r)
{
	struct lz_session *s = r->s;

	if (s->e->marker != s->limit)
		return lz_snapshot_maybe(s, s->e);
	lz_session_arrived(s, 1, true);
	lz_session_fill(s, r->stop, LZ_STOP_TARGET);
	return 1;
}

static int run_halt(struct run *r, const struct lz_halt *h)
{
	struct lz_session *s = r->s;
	int ret = 0;

	if (h->flags & LZ_HALT_INTERRUPT) {
		if (came_anywhere(s, &r->prev) < 0)
			return -1;
		lz_session_fill(s, r->stop, LZ_STOP_INTERRUPTED);
		return 1;
	}
	if (h->flags & LZ_HALT_DIVERGED) {
		lz_session_fill(s, r->stop, LZ_STOP_DIVERGED);
		s->lost = true;
		return 1;
	}
	if (h->flags & LZ_HALT_EVENT)
		return run_event(r);
	if (h->flags & LZ_HALT_END)
		return run_end(r);
	if (h->flags & LZ_HALT_WATCH && (ret = run_watch(r, h)))
		return ret;
	if (h->flags & LZ_HALT_BREAK && !lz_session_goes_past(s)) {
		if (came_to_break(s, &r->prev) < 0)
			return -1;
		lz_session_fill(s, r->stop, LZ_STOP_BREAKPOINT);
		return 1;
	}
	return h->flags & LZ_HALT_MARKER ? run_marker(r) : 0;
}

/* 1: stopped; ITS_TURN. */
static int run_on(struct run *r)
{
	struct lz_session *s = r->s;
	uint64_t addrs[s->n_breaks + 1];
	struct lz_halt h;
	int ret = 0;

	for (size_t i = 0; i < s->n_breaks; i++) {
		addrs[i] = s->breaks[i].addr;
		s->breaks[i].passed.n = 0;
	}
	if (lz_engine_break(s->e, addrs, s->n_breaks) < 0 || lz_watch_arm(s, s->e) < 0)
		return -1;
	struct lz_engine *e = s->e;
	s->away = true;
	e->calls.until = lz_watch_looks(s) ? 0 : UINT64_MAX;
	e->calls.looks = lz_session_looks;
	e->calls.arg = s;
	while (!ret) {
		e->want.marker = lz_snapshot_plan(s, e);
		if (s->limit > e->marker && s->limit < e->want.marker)
			e->want.marker = s->limit;
		ret = lz_engine_resume(e, false, &h);
		if (!ret)
			ret = run_halt(r, &h);
		if (s->e != e) /* an interrupt replaced it */
			break;
	}
	return ret;
}

/* Back where it began, or where it last had a name. */
static int run_failed(struct lz_session *s)
{
	struct lz_pos last = s->pos;

	if (s->away)
		lz_session_restore(s, &last);
	return -1;
}

/* Nothing of a move stays in the engine. */
static int disarm(struct lz_session *s)
{
	struct lz_engine *e = s->e;

	if (!e)
		return 0;
	e->calls.until = 0;
	if (lz_engine_calls_off(e) < 0)
		return -1;
	lz_engine_unbreak(e);
	lz_engine_break(e, NULL, 0);
	memset(e->debug.user, 0, sizeof e->debug.user);
	e->want.marker = UINT64_MAX;
	e->want.ip = 0;
	return lz_engine_drop_guards(e);
}

/* ---- step ---- */

static int step_event(struct lz_session *s, struct lz_stop *stop)
{
	const struct lz_event *ev = lz_reader_event(s->rp.reader, s->e->event);

	if (!ev)
		return -1;
	if (s->e->regs.rip != s->pos.ip && lz_event_arrives(ev) && lz_session_stepped(s) < 0)
		return -1;
	if (tells(s, ev)) {
		stop_signal(s, ev, stop);
		return 1;
	}
	if (ev->flags & LZ_EVF_FATAL) {
		stop_end(s, stop);
		return 1;
	}
	bool moved = ev->kind == LZ_EV_SIGNAL
	                 ? ev->has_regs
	                 : ev->kind != LZ_EV_SWITCH && ev->kind != LZ_EV_SHARED;
	lz_session_passes(s, ev);
	if (lz_engine_apply(s->e, NULL) < 0)
		return -1;
	struct lz_user_watch *w = lz_watch_check(s, s->e, NULL);
	lz_session_arrived(s, 1, true);
	lz_session_fill(s, stop, w ? LZ_STOP_WATCH : LZ_STOP_STEP);
	stop->watch_addr = w ? w->addr : 0;
	stop->watch_kind = w ? w->kind : 0;
	return w || (moved && !lz_engine_in_kernel(s->e));
}

static int step_halt(struct lz_session *s, const struct lz_halt *h, struct lz_stop *stop)
{
	struct lz_pos prev = s->pos;

	if (h->flags & LZ_HALT_INTERRUPT) {
		s->rp.interrupted = false;
		if (lz_session_restore(s, &prev) < 0)
			return -1;
		lz_session_fill(s, stop, LZ_STOP_INTERRUPTED);
		return 1;
	}
	if (h->flags & LZ_HALT_DIVERGED) {
		lz_session_fill(s, stop, LZ_STOP_DIVERGED);
		s->lost = true;
		return 1;
	}
	if (h->flags & LZ_HALT_EVENT)
		return step_event(s, stop);
	if (h->flags & LZ_HALT_END) {
		stop_end(s, stop);
		return 1;
	}
	if (!(h->flags & LZ_HALT_STEP))
		return 0;
	struct lz_user_watch *w = h->flags & LZ_HALT_WATCH ? lz_watch_check(s, s->e, h) : NULL;
	if (lz_engine_settle(s->e) < 0 || lz_session_stepped(s) < 0)
		return -1;
	s->at_end = false;
	s->signal_told = 0;
	lz_session_fill(s, stop, w ? LZ_STOP_WATCH : LZ_STOP_STEP);
	stop->watch_addr = w ? w->addr : 0;
	stop->watch_kind = w ? w->kind : 0;
	return 1;
}

/* Lets other threads run until TID can go on. 0: it can; 1: stopped. */
static int run_to_turn(struct lz_session *s, uint32_t tid, struct lz_stop *stop)
{
	struct run r = {.s = s, .prev = s->pos, .stop = stop, .until = tid};
	int ret = run_on(&r);

	if (ret != ITS_TURN)
		return ret;
	return disarm(s) < 0 || lz_watch_arm(s, s->e) < 0 ? -1 : 0;
}

int lz_session_step_forward(struct lz_session *s, uint32_t tid, struct lz_stop *stop)
{
	struct lz_halt h;
	int ret = 0;

	if (s->at_end) {
		stop_end(s, stop);
		return 0;
	}
	if (!lz_contexts_find(&s->e->threads, tid))
		return lz_fail("there is no thread %u now", tid);
	if (lz_watch_arm(s, s->e) < 0)
		return -1;
	while (!ret) {
		if (lz_engine_tid(s->e) != tid || lz_engine_in_kernel(s->e)) {
			ret = run_to_turn(s, tid, stop);
			continue;
		}
		ret = lz_engine_resume(s->e, true, &h);
		if (!ret)
			ret = step_halt(s, &h, stop);
	}
	return ret < 0 || disarm(s) < 0 ? -1 : 0;
}

int lz_session_begin_move(struct lz_session *s)
{
	lz_session_begin(s);
	return s->lost ? lz_fail("replay has diverged here: only seeking is possible") : 0;
}

int lz_session_run_forward(struct lz_session *s, struct lz_stop *stop)
{
	if (s->at_end) {
		stop_end(s, stop);
		return 0;
	}
	struct run r = {.s = s, .prev = s->pos, .stop = stop};
	int ret = run_on(&r) < 0 ? run_failed(s) : 0;
	return disarm(s) < 0 ? -1 : ret;
}

int lz_session_step_thread(struct lz_session *s, uint32_t tid, enum lz_direction d,
                           struct lz_stop *stop)
{
	if (lz_session_begin_move(s) < 0)
		return -1;
	return d == LZ_FORWARD ? lz_session_step_forward(s, tid, stop)
	                       : lz_session_step_back(s, tid, stop);
}

int lz_session_step(struct lz_session *s, enum lz_direction d, struct lz_stop *stop)
{
	return lz_session_step_thread(s, s->pos.tid, d, stop);
}
