/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving backward by one instruction: the gap's trail has it, or it is the last one of the gap
 * before. */
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include <string.h>

enum { MORE_ROUNDS = 16 };

int lz_session_stop_start(struct lz_session *s, struct lz_stop *stop)
{
	if (lz_session_seek_start(s) < 0)
		return -1;
	lz_session_fill(s, stop, LZ_STOP_START);
	return 0;
}

int lz_session_stop_interrupted(struct lz_session *s, struct lz_stop *stop)
{
	s->rp.interrupted = false;
	lz_session_fill(s, stop, LZ_STOP_INTERRUPTED);
	return 0;
}

static int lost(void)
{
	return lz_fail("the present instant is not found again");
}

/* A new engine at the start of a gap that there is. NULL: *ret = 2 interrupted, -1. */
static struct lz_engine *engine_at(struct lz_session *s, uint64_t event, uint64_t marker, int *ret)
{
	struct lz_engine *e = lz_session_engine_at(s, event, marker, ret);

	if (*ret == 1)
		*ret = lost();
	return e;
}

/* ---- the instruction before, within the gap ---- */

/* Arrivals at X in E's gap up to the arrival number N at IP, which is not counted. E stands at
 * the gap's start. */
static int64_t count_up_to(struct lz_engine *e, uint64_t x, uint64_t ip, uint32_t n)
{
	struct lz_halt h = {.flags = (e->regs.rip == x ? LZ_HALT_EXEC : 0) |
	                             (e->regs.rip == ip ? LZ_HALT_BREAK : 0)};
	uint32_t seen = 0;
	int64_t count = 0;

	if (x == ip)
		return n - 1;
	if (lz_engine_break(e, &ip, 1) < 0)
		return -1;
	e->want.ip = x;
	for (;;) {
		if (h.flags & LZ_HALT_BREAK && ++seen == n)
			return count;
		count += !!(h.flags & LZ_HALT_EXEC);
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (!(h.flags & (LZ_HALT_BREAK | LZ_HALT_EXEC)))
			return lost();
	}
}

/* K instants back; 1: the last one. */
static uint64_t back(const struct lz_latest *l, size_t k)
{
	return l->ips[(l->n - k) % LZ_LATEST];
}

/* Steps E to the instant P (SEEN arrivals there so far), noting those before it. */
static int step_up_to(struct lz_engine *e, const struct lz_pos *p, uint32_t seen,
                      struct lz_latest *l)
{
	while (seen < p->n) {
		struct lz_halt h;
		l->ips[l->n++ % LZ_LATEST] = e->regs.rip;
		if (lz_engine_resume(e, true, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (!(h.flags & LZ_HALT_STEP))
			return lost();
		seen += e->regs.rip == p->ip;
	}
	return 0;
}

/* From ROUNDS arrivals before at the same address on, or from the gap's start. */
static int note_from(struct lz_session *s, uint64_t rounds)
{
	const struct lz_pos *p = &s->pos;
	struct lz_latest *l = &s->latest;
	int ret;

	struct lz_engine *e = engine_at(s, p->event, p->marker, &ret);
	if (!e)
		return ret;
	uint32_t seen = e->regs.rip == p->ip;
	l->n = 0;
	l->whole = p->n <= rounds;
	if (!l->whole) {
		ret = lz_engine_to_arrival(e, p->ip, p->n - (uint32_t)rounds, seen);
		seen = p->n - (uint32_t)rounds;
	}
	if (!ret)
		ret = step_up_to(e, p, seen, l);
	lz_engine_free(e);
	return ret == 1 ? lost() : ret;
}

static bool is_noted(const struct lz_session *s)
{
	return s->pos.n && lz_pos_same(&s->latest.at, &s->pos);
}

/* At least N instants before the present one, which has a name, or all of its gap. */
static int note_latest(struct lz_session *s, size_t n)
{
	struct lz_latest *l = &s->latest;

	if (is_noted(s) && (l->whole || l->n >= n))
		return 0;
	if (!l->ips && !(l->ips = calloc(LZ_LATEST, sizeof *l->ips)))
		return lz_fail("out of memory");
	l->at = (struct lz_pos){0};
	for (uint64_t rounds = 1;; rounds *= MORE_ROUNDS) {
		int ret = note_from(s, rounds);
		if (ret)
			return ret;
		if (l->whole || l->n >= n)
			break;
	}
	l->at = s->pos;
	return 0;
}

/* The place of the K-th instant back of those that are noted. */
static int place_back(struct lz_session *s, size_t k, struct lz_pos *to)
{
	const struct lz_latest *l = &s->latest;
	int ret;

	struct lz_engine *e = engine_at(s, s->pos.event, s->pos.marker, &ret);
	if (!e)
		return ret;
	*to = s->pos;
	to->ip = back(l, k);
	int64_t n = count_up_to(e, to->ip, s->pos.ip, s->pos.n);
	lz_engine_free(e);
	if (n < 0)
		return -1;
	for (size_t i = 1; i < k; i++)
		n -= back(l, i) == to->ip;
	to->n = (uint32_t)n;
	return n > 0 ? 0 : lost();
}

static int before_in_long_gap(struct lz_session *s, struct lz_pos *to)
{
	int ret = note_latest(s, 1);

	return ret ? ret : place_back(s, 1, to);
}

/* 0: *to is set, and *E, if there is an engine already; 1: the present instant begins its gap; 2
 * interrupted. */
static int before_in_gap(struct lz_session *s, struct lz_pos *to, struct lz_engine **e)
{
	struct lz_trail *t = &s->trail;
	int ret = lz_session_whole_trail(s, LZ_LONG_GAP, e);

	if (ret == 1)
		return before_in_long_gap(s, to);
	if (ret)
		return ret;
	if (t->n == 1)
		return 1;
	*to = s->pos;
	to->ip = t->ips[t->n - 2];
	to->n = 0;
	for (size_t i = 0; i + 1 < t->n; i++)
		to->n += t->ips[i] == to->ip;
	return 0;
}

/* ---- the last instant of the gap before ---- */

/* Is event INDEX the end of a system call that thread TID was inside of when it got its turn? */
static int returns(struct lz_session *s, uint64_t index, uint32_t tid)
{
	const struct lz_event *before = lz_session_event_before(s, index);

	if (!before || before->kind != LZ_EV_SWITCH || before->next != tid)
		return 0;
	const struct lz_turns *t = lz_replay_turns(&s->rp);
	if (!t)
		return -1;
	const struct lz_turn *turn = &t->v[lz_turns_at(t, index)];
	return turn->event == index && turn->returns;
}

/* Where it stands: a call's is its instruction. */
static int instant_of(struct lz_session *s, const struct lz_event *ev, struct lz_pos *to)
{
	*to = (struct lz_pos){ev->tid, 1, ev->index, ev->marker, ev->ip};
	if (ev->kind == LZ_EV_SWITCH && ev->flags & LZ_EVF_IN_CALL)
		to->ip = ev->ip - 2;
	if (ev->kind != LZ_EV_SYSCALL)
		return 0;
	int ret = returns(s, to->event, to->tid);
	if (!ret)
		to->ip -= 2;
	return ret < 0 ? -1 : 0;
}

int lz_session_before_event(struct lz_session *s, const struct lz_event *ev, struct lz_pos *to)
{
	bool counted = (ev->kind == LZ_EV_SIGNAL || lz_event_async(ev)) && lz_event_counted(ev);
	int ret;

	if (instant_of(s, ev, to) < 0)
		return -1;
	if (!counted)
		return 0;
	struct lz_engine *e = engine_at(s, to->event, to->marker, &ret);
	if (!e)
		return ret;
	int64_t n = lz_engine_count_to_event(e, to->ip, LZ_MANY);
	lz_engine_free(e);
	if (n <= 0)
		return n < 0 ? -1 : lost();
	to->n = (uint32_t)n;
	return 0;
}

/* The usual marker store, `movb $code, (%r15)`, is told by its bytes. */
static bool is_store(struct lz_session *s, uint64_t ip, uint8_t code)
{
	uint8_t b[4];

	return lz_engine_read(s->e, ip - 4, b, 4) == 4 && b[0] == 0x41 && b[1] == 0xc6 &&
	       b[2] == 0x07 && b[3] == code;
}

/* Steps E to the end of marker MARKER; *LAST: the instruction that came to it. */
static int step_to_marker(struct lz_engine *e, uint64_t marker, uint64_t *last)
{
	while (e->marker < marker) {
		struct lz_halt h;

		*last = e->regs.rip;
		if (lz_engine_resume(e, true, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (!(h.flags & LZ_HALT_STEP))
			return lost();
	}
	return 0;
}

/* The store that wrote the marker in front of the gap. It is the first arrival there: a second one
 * would have written a marker more. */
static int before_marker(struct lz_session *s, struct lz_pos *to)
{
	int64_t prev = lz_marker_boundary(s, s->pos.marker - 1), n;
	uint8_t code;
	int ret;

	if (prev < 0)
		return -1;
	n = lz_reader_markers(s->rp.reader, s->rp.tid, (uint64_t)prev, &code, 1);
	if (n != 1)
		return n < 0 ? -1 : lost();
	*to = (struct lz_pos){s->pos.tid, 1, s->pos.event, (uint64_t)prev, s->pos.ip - 4};
	if (is_store(s, s->pos.ip, code))
		return 0;
	struct lz_engine *e = engine_at(s, to->event, to->marker, &ret);
	if (!e)
		return ret;
	ret = step_to_marker(e, s->pos.marker, &to->ip);
	lz_engine_free(e);
	return ret;
}

/* What before_gap() finds, besides 0, 1 (nothing) and 2 (interrupted). */
enum { THREAD_BEGINS = 3, TURN_BEFORE = 4 };

/* The present instant begins a turn. At the end of the thread's turn before it stands at the
 * same instruction, unless it went into a system call. */
static int before_turn(struct lz_session *s, uint32_t tid, struct lz_pos *to)
{
	struct lz_turn_end end;
	int ret = lz_session_turn_before(s, tid, s->pos.event, &end);

	if (ret)
		return ret < 0 ? -1 : THREAD_BEGINS;
	*to = end.pos;
	return end.in_call ? 0 : TURN_BEFORE;
}

static int before_gap(struct lz_session *s, struct lz_pos *to)
{
	const struct lz_event *ev;

	if (lz_session_at_start(s))
		return 1;
	ev = lz_session_event_before(s, s->pos.event);
	if (!ev || ev->marker != s->pos.marker)
		return s->pos.marker > lz_reader_first_marker(s->rp.reader) ? before_marker(s, to)
		                                                            : 1;
	if (ev->kind == LZ_EV_SWITCH)
		return before_turn(s, s->pos.tid, to);
	int ret = ev->kind == LZ_EV_SYSCALL ? returns(s, s->pos.event - 1, s->pos.tid) : 0;
	if (ret)
		return ret < 0 ? -1 : before_turn(s, s->pos.tid, to);
	ev = lz_reader_event(s->rp.reader, s->pos.event - 1);
	return ev ? lz_session_before_event(s, ev, to) : -1;
}

/* Goes to TO, where E stands if it is not NULL; the trail up to there is kept if it is the
 * instant before in the same gap. */
static int go_before(struct lz_session *s, const struct lz_pos *to, bool inside,
                     struct lz_engine *e)
{
	struct lz_trail kept = {0}, *t = &s->trail;
	int ret = 0;

	if (inside && t->whole) {
		kept = *t;
		kept.n--;
		*t = (struct lz_trail){0};
	}
	if (e) {
		lz_session_replace(s, e);
		lz_session_arrived(s, to->n, false);
	} else {
		ret = lz_session_seek(s, to);
	}
	if (kept.ips) {
		free(t->ips);
		*t = kept;
	}
	return ret;
}

/* A signal without effect is no step of its own, nor is what other processes have stored. */
static bool no_step(struct lz_session *s, const struct lz_pos *from)
{
	if (s->pos.ip != from->ip || s->pos.event == from->event || s->pos.event + 1 != from->event)
		return false;
	const struct lz_event *ev = lz_reader_event(s->rp.reader, s->pos.event);
	return ev && (ev->kind == LZ_EV_SHARED || ev->kind == LZ_EV_SIGNAL) && !ev->has_regs;
}

/* As before_gap(). */
static int one_back(struct lz_session *s)
{
	struct lz_engine *e;
	struct lz_pos to;
	int ret = before_in_gap(s, &to, &e);
	bool inside = ret == 0;

	if (ret == 1)
		ret = before_gap(s, &to);
	if (ret && ret != TURN_BEFORE)
		return ret;
	return go_before(s, &to, inside, e) < 0 ? -1 : ret;
}

/* A step forwards stops where a turn ends; the instant at which the thread goes on from there is
 * no stop of its own. */
int lz_session_to_turn_before(struct lz_session *s)
{
	while (s->pos.event > lz_reader_first_event(s->rp.reader) && lz_session_at_gap(s)) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, s->pos.event - 1);
		struct lz_pos to;

		if (!ev)
			return -1;
		if (ev->kind != LZ_EV_SWITCH || ev->marker != s->pos.marker ||
		    before_turn(s, s->pos.tid, &to) != TURN_BEFORE)
			return 0;
		if (lz_session_seek(s, &to) < 0)
			return -1;
	}
	return 0;
}

/* As lz_session_back_in_gap(). */
static ssize_t back_in_long_gap(struct lz_session *s, size_t n, uint64_t *ips)
{
	const struct lz_latest *l = &s->latest;
	struct lz_pos to;

	n = n < LZ_LATEST - 1 ? n : LZ_LATEST - 1;
	/* the gap's first one is left out */
	int ret = lz_session_name(s) < 0 ? -1 : note_latest(s, n + 1);
	if (ret)
		return ret < 0 ? -1 : 0;
	n = n < l->n ? n : l->n - !!l->n;
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		ips[i] = back(l, i + 1);
	ret = place_back(s, n, &to);
	if (!ret)
		ret = lz_session_seek(s, &to);
	return ret ? ret < 0 ? -1 : 0 : (ssize_t)n;
}

ssize_t lz_session_back_in_gap(struct lz_session *s, size_t n, uint64_t *ips)
{
	const struct lz_trail *t = &s->trail;
	int ret = is_noted(s) ? 1 : lz_session_whole_trail(s, LZ_LONG_GAP, NULL);

	if (ret)
		return ret < 0 ? -1 : ret == 1 ? back_in_long_gap(s, n, ips) : 0;
	const size_t before = t->n > 2 ? t->n - 2 : 0;
	n = n < before ? n : before;
	if (!n)
		return 0;
	const size_t last = t->n - 1 - n;
	struct lz_pos to = s->pos;
	to.ip = t->ips[last];
	to.n = 0;
	for (size_t i = 0; i <= last; i++)
		to.n += t->ips[i] == to.ip;
	for (size_t i = 0; i < n; i++)
		ips[i] = t->ips[t->n - 2 - i];
	return lz_session_seek(s, &to) < 0 ? -1 : (ssize_t)n;
}

static int step_back(struct lz_session *s, struct lz_stop *stop)
{
	for (;;) {
		struct lz_pos from = s->pos;
		int ret = one_back(s);
		if (ret < 0)
			return -1;
		if (ret == 1)
			return lz_session_stop_start(s, stop);
		if (ret == 2)
			return lz_session_stop_interrupted(s, stop);
		if (ret == THREAD_BEGINS) {
			lz_session_fill(s, stop, LZ_STOP_THREAD_START);
			return 0;
		}
		if (ret == TURN_BEFORE || no_step(s, &from))
			continue;
		if (lz_session_to_turn_before(s) < 0)
			return -1;
		lz_session_fill(s, stop, LZ_STOP_STEP);
		return 0;
	}
}

int lz_session_step_back(struct lz_session *s, uint32_t tid, struct lz_stop *stop)
{
	struct lz_pos to;

	if (!lz_contexts_find(&s->e->threads, tid))
		return lz_fail("there is no thread %u now", tid);
	if (lz_session_name(s) < 0)
		return -1;
	if (tid == s->pos.tid)
		return step_back(s, stop);
	int ret = before_turn(s, tid, &to);
	if (ret == THREAD_BEGINS) {
		lz_session_fill(s, stop, LZ_STOP_THREAD_START);
		return 0;
	}
	if (ret < 0 || lz_session_seek(s, &to) < 0)
		return -1;
	if (ret == TURN_BEFORE)
		return step_back(s, stop);
	lz_session_fill(s, stop, LZ_STOP_STEP);
	return 0;
}
