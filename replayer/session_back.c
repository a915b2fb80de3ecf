/* Moving backward: to the instruction before, and to the last breakpoint or watched change before.
 *
 * A backward run looks at stretches of the recording, each ending where the one before began and
 * growing eightfold, from the present towards the start; in each it runs forward and keeps the last hit. */
#include "replayer/session.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_MARKERS = 512, FIRST_EVENTS = 16, LONG_GAP = 20000, GROW = 8 };

static int interrupted(struct lz_session *s, struct lz_stop *stop)
{
	s->rp.interrupted = 0;
	lz_session_fill(s, stop, LZ_STOP_INTERRUPTED);
	return 0;
}

/* Right before the signal that a run back must not pass by. */
static int stop_signal(struct lz_session *s, struct lz_stop *stop)
{
	const struct lz_event *ev = lz_reader_event(s->rp.reader, s->back_to - 1);
	struct lz_pos to;

	if (!ev)
		return -1;
	uint32_t signo = ev->signo;
	int ret = lz_session_before_event(s, ev, &to);

	if (ret == 2)
		return interrupted(s, stop);
	if (ret < 0 || lz_session_seek(s, &to) < 0)
		return -1;
	lz_session_fill(s, stop, LZ_STOP_SIGNAL);
	stop->signo = signo;
	s->signal_told = s->back_to;
	return 0;
}

/* Nothing stopped it before. */
static int stop_start(struct lz_session *s, struct lz_stop *stop)
{
	if (s->back_to)
		return stop_signal(s, stop);
	if (lz_session_seek_start(s) < 0)
		return -1;
	lz_session_fill(s, stop, LZ_STOP_START);
	return 0;
}

/* ---- the instruction before, within the gap ---- */

/* Arrivals at X in E's gap up to the arrival number N at IP, which is not counted. E stands at the gap's start. */
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
	e->want_ip = x;
	for (;;) {
		if (h.flags & LZ_HALT_BREAK && ++seen == n)
			return count;
		count += !!(h.flags & LZ_HALT_EXEC);
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (!(h.flags & (LZ_HALT_BREAK | LZ_HALT_EXEC)))
			return lz_fail("the present instant is not found again");
	}
}

/* Steps E to the arrival number N at IP (SEEN so far); *BEFORE: the address just before. */
static int step_up_to(struct lz_engine *e, uint64_t ip, uint32_t n, uint32_t seen, uint64_t *before)
{
	while (seen < n) {
		struct lz_halt h;
		*before = e->regs.rip;
		if (lz_engine_resume(e, true, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (!(h.flags & LZ_HALT_STEP))
			return lz_fail("the present instant is not found again");
		seen += e->regs.rip == ip;
	}
	return 0;
}

/* In a gap too long to note every step of: as near as possible by counting, the rest by steps. */
static int before_in_long_gap(struct lz_session *s, struct lz_pos *to)
{
	struct lz_pos p = s->pos;
	uint64_t before = 0;
	int64_t n;
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, p.event, p.marker, &ret);
	if (!e)
		return ret == 2 ? 2 : -1;
	uint32_t seen = e->regs.rip == p.ip;
	if (p.n > 1) {
		ret = lz_engine_to_arrival(e, p.ip, p.n - 1, seen);
		seen = p.n - 1;
	}
	if (!ret)
		ret = step_up_to(e, p.ip, p.n, seen, &before);
	lz_engine_free(e);
	if (ret)
		return ret;
	e = lz_session_engine_at(s, p.event, p.marker, &ret);
	if (!e)
		return ret == 2 ? 2 : -1;
	n = count_up_to(e, before, p.ip, p.n);
	lz_engine_free(e);
	if (n <= 0)
		return -1;
	*to = p;
	to->ip = before;
	to->n = (uint32_t)n;
	return 0;
}

/* 0: *to is set; 1: the present instant begins its gap; 2 interrupted. */
static int before_in_gap(struct lz_session *s, struct lz_pos *to)
{
	struct lz_trail *t = &s->trail;
	int ret = lz_session_whole_trail(s, LONG_GAP);

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

int lz_session_before_event(struct lz_session *s, const struct lz_event *ev, struct lz_pos *to)
{
	int64_t n = 1;
	int ret;

	*to = (struct lz_pos){s->rp.tid, 1, ev->index, ev->marker, ev->ip};
	if (ev->kind == LZ_EV_SYSCALL)
		to->ip = ev->ip - 2;
	if (ev->kind != LZ_EV_SIGNAL || !(ev->flags & (LZ_EVF_SYNC | LZ_EVF_SPIN)))
		return 0;
	struct lz_engine *e = lz_session_engine_at(s, to->event, to->marker, &ret);
	if (!e)
		return ret == 2 ? 2 : -1;
	n = lz_engine_count_to_event(e, to->ip);
	lz_engine_free(e);
	if (n <= 0)
		return -1;
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

static int before_marker(struct lz_session *s, struct lz_pos *to)
{
	uint64_t before = s->pos.ip, marker = s->pos.marker;
	int64_t prev = lz_marker_boundary(s, marker - 1), n = 0;
	uint8_t code;
	int ret;

	if (prev < 0 || lz_reader_markers(s->rp.reader, s->rp.tid, (uint64_t)prev, &code, 1) != 1)
		return -1;
	*to = s->pos;
	to->marker = (uint64_t)prev;
	to->ip = before - 4;
	to->n = 1;
	if (is_store(s, before, code))
		return 0;
	struct lz_engine *e = lz_session_engine_at(s, s->pos.event, (uint64_t)prev, &ret);
	if (!e)
		return ret == 2 ? 2 : -1;
	while (e->marker < marker) {
		struct lz_halt h;
		before = e->regs.rip;
		if (lz_engine_resume(e, true, &h) < 0 || !(h.flags & LZ_HALT_STEP)) {
			lz_engine_free(e);
			return h.flags & LZ_HALT_INTERRUPT ? 2 : -1;
		}
		n += before == to->ip; /* counted below for the address found */
	}
	lz_engine_free(e);
	/* a marker store is executed once per marker */
	to->ip = before;
	return 0;
}

static int before_gap(struct lz_session *s, struct lz_pos *to)
{
	const struct lz_event *ev;

	if (lz_session_at_start(s))
		return 1;
	if (s->pos.event && (ev = lz_reader_event(s->rp.reader, s->pos.event - 1)) &&
	    ev->marker == s->pos.marker)
		return lz_session_before_event(s, ev, to);
	return s->pos.marker ? before_marker(s, to) : 1;
}

int lz_session_step_back(struct lz_session *s, struct lz_stop *stop)
{
	if (lz_session_name(s) < 0)
		return -1;
	struct lz_pos to, from = s->pos;
	struct lz_trail *t = &s->trail;

	for (;;) {
		int ret = before_in_gap(s, &to);
		bool inside = ret == 0;
		if (ret == 1)
			ret = before_gap(s, &to);
		if (ret == 1)
			return stop_start(s, stop);
		if (ret == 2)
			return interrupted(s, stop);
		if (ret < 0)
			return -1;
		/* going to the instant before keeps the trail up to there */
		struct lz_trail kept = {0};
		if (inside && t->whole) {
			kept = *t;
			kept.n--;
			*t = (struct lz_trail){0};
		}
		ret = lz_session_seek(s, &to);
		if (kept.ips) {
			free(t->ips);
			*t = kept;
		}
		if (ret < 0)
			return -1;
		/* a signal without effect is no step of its own */
		if (s->pos.ip != from.ip || s->pos.event == from.event ||
		    s->pos.event + 1 != from.event)
			break;
		const struct lz_event *ev = lz_reader_event(s->rp.reader, s->pos.event);
		if (!ev || ev->kind != LZ_EV_SIGNAL || ev->has_regs)
			break;
		from = s->pos;
	}
	lz_session_fill(s, stop, LZ_STOP_STEP);
	return 0;
}

/* ---- windows ---- */

struct gap {
	uint64_t event, marker;
};

/* The earliest gap that a run back looks at. */
static struct gap first_gap(struct lz_session *s)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);
	const struct lz_event *ev =
	    s->back_to ? lz_reader_event(s->rp.reader, s->back_to - 1) : NULL;

	if (ev)
		return (struct gap){s->back_to, ev->marker};
	return ck ? (struct gap){ck->pos.event, ck->pos.marker} : (struct gap){0, 0};
}

static struct gap later(struct gap a, struct gap b)
{
	return lz_gap_cmp(a.event, a.marker, b.event, b.marker) > 0 ? a : b;
}

/* The beginning of the window that ends at END. */
static int window(struct lz_session *s, struct gap end, uint64_t markers, uint64_t events,
                  struct gap *start)
{
	struct gap m = first_gap(s), e = m;

	if (end.marker > m.marker + markers) {
		int64_t at = lz_marker_boundary(s, end.marker - markers);
		if (at < 0)
			return -1;
		m = (struct gap){lz_gap_event(s, (uint64_t)at), (uint64_t)at};
	}
	if (end.event > e.event + events) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, end.event - events - 1);
		if (!ev)
			return -1;
		e = (struct gap){end.event - events, ev->marker};
	}
	*start = later(m, e);
	return 0;
}

static bool page_dirty(const struct lz_session *s, const struct lz_checkpoint *ck)
{
	for (size_t i = 0; i < s->n_watches; i++) {
		uint64_t page = s->watches[i].addr & ~(uint64_t)(LZ_PAGE - 1);
		uint64_t end = s->watches[i].addr + s->watches[i].len;
		uint32_t low = 0, high = ck->n_dirty;
		while (low < high) {
			uint32_t mid = low + (high - low) / 2;
			if (ck->dirty[mid] < page)
				low = mid + 1;
			else
				high = mid;
		}
		if (low < ck->n_dirty && ck->dirty[low] < end)
			return true;
	}
	return false;
}

/* A gap's start at or behind the checkpoint, which may stand in the middle of one. */
static struct gap behind(struct lz_session *s, const struct lz_checkpoint *ck)
{
	if (lz_checkpoint_starts_gap(s, ck))
		return (struct gap){ck->pos.event, ck->pos.marker};
	uint64_t next = lz_engine_next_marker(s->e, ck->pos.marker);
	if (next == UINT64_MAX)
		return (struct gap){UINT64_MAX, UINT64_MAX};
	return (struct gap){lz_gap_event(s, next), next};
}

/* With watchpoints only: whole intervals between checkpoints, before END, in which no watched page was written,
 * need not be run. */
static struct gap skip_clean(struct lz_session *s, struct gap end)
{
	struct lz_reader *r = s->rp.reader;
	uint32_t i = lz_reader_checkpoint_before(r, end.event, end.marker);

	for (size_t k = 0; k < s->n_watches; k++)
		if (s->watches[k].kind != 'w')
			return end;
	if (s->n_breaks || i >= lz_reader_n_checkpoints(r))
		return end;
	/* END lies in the interval behind checkpoint i: that one is clean if checkpoint i+1 says so */
	for (i++; i > 0; i--) {
		if (i >= lz_reader_n_checkpoints(r))
			break;
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);
		const struct lz_checkpoint *before = lz_reader_checkpoint(r, i - 1);
		if (!ck || !before || ck->whole || page_dirty(s, ck))
			break;
		struct gap g = behind(s, before);
		if (lz_gap_cmp(g.event, g.marker, end.event, end.marker) < 0)
			end = g;
	}
	return end;
}

/* ---- the run ---- */

struct last_hit {
	bool any;
	struct lz_hit hit;
};

static int keep_last(void *arg, const struct lz_hit *hit)
{
	struct last_hit *l = arg;

	l->any = true;
	l->hit = *hit;
	return 0;
}

static int stop_at_hit(struct lz_session *s, const struct lz_hit *hit, struct lz_stop *stop)
{
	struct lz_pos to;
	int ret = lz_session_resolve(s, hit, &to);

	if (ret == 2)
		return interrupted(s, stop);
	if (ret < 0 || lz_session_seek(s, &to) < 0)
		return -1;
	lz_session_fill(s, stop, hit->kind == LZ_HIT_BREAK ? LZ_STOP_BREAKPOINT : LZ_STOP_WATCH);
	stop->watch_addr = hit->watch_addr;
	stop->watch_kind = hit->watch_kind;
	return 0;
}

/* One window; 0: nothing in it, 1: stopped. */
static int look(struct lz_session *s, struct gap start, const struct lz_scan_end *end,
                const uint64_t *addrs, struct lz_stop *stop)
{
	struct last_hit last = {0};
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, start.event, start.marker, &ret);
	if (!e)
		return ret == 2
		           ? (interrupted(s, stop), 1)
		           : lz_fail_in("going back to event %lu, marker %lu",
		                        (unsigned long)start.event, (unsigned long)start.marker);
	ret = lz_scan(s, e, end, addrs, s->n_breaks, s->n_watches > 0, keep_last, &last);
	lz_engine_free(e);
	if (ret == LZ_SCAN_INTERRUPTED)
		return interrupted(s, stop), 1;
	if (ret == LZ_SCAN_DIVERGED) {
		lz_session_fill(s, stop, LZ_STOP_DIVERGED);
		return 1;
	}
	if (ret == LZ_SCAN_PAST)
		return lz_fail("the present instant is not found again");
	if (ret < 0)
		return -1;
	if (!last.any)
		return 0;
	return stop_at_hit(s, &last.hit, stop) < 0 ? -1 : 1;
}

/* 1 + the index of the last signal before now that a run stops for; 0: there is none. */
static uint64_t signal_before(struct lz_session *s)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);

	for (uint64_t i = s->pos.event; ck && i > ck->pos.event; i--) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, i - 1);

		if (!ev || s->rp.interrupted)
			break;
		if (lz_session_tells(s, ev))
			return i;
	}
	return 0;
}

static int run_back(struct lz_session *s, struct lz_stop *stop)
{
	uint64_t addrs[s->n_breaks + 1], markers = FIRST_MARKERS, events = FIRST_EVENTS;
	struct gap end = {s->pos.event, s->pos.marker}, first = first_gap(s), start = end;
	struct lz_pos here = s->pos;
	int ret = 0;

	if (!s->n_breaks && !s->n_watches)
		return stop_start(s, stop);
	for (size_t i = 0; i < s->n_breaks; i++)
		addrs[i] = s->breaks[i].addr;
	if (!lz_session_at_gap(s)) {
		struct lz_scan_end to = {end.event, end.marker, &here};
		ret = look(s, start, &to, addrs, stop);
	}
	while (!ret) {
		if (lz_gap_cmp(end.event, end.marker, first.event, first.marker) <= 0)
			return stop_start(s, stop);
		end = skip_clean(s, end);
		if (lz_gap_cmp(end.event, end.marker, first.event, first.marker) <= 0)
			return stop_start(s, stop);
		if (window(s, end, markers, events, &start) < 0)
			return -1;
		struct lz_scan_end to = {end.event, end.marker, NULL};
		ret = look(s, start, &to, addrs, stop);
		end = start;
		markers *= GROW;
		events *= GROW;
	}
	return ret < 0 ? -1 : 0;
}

int lz_session_run_back(struct lz_session *s, struct lz_stop *stop)
{
	if (lz_session_name(s) < 0)
		return -1;
	s->back_to = signal_before(s);
	int ret = run_back(s, stop);

	s->back_to = 0;
	return ret;
}
