/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running, in either direction: backward to the last breakpoint, watched change or signal before.
 *
 * A backward run looks at stretches of the recording, each ending where the one before began and
 * growing eightfold, from the present towards the start; in each it runs forward and keeps the
 * last hit. When they have become long, the last arrival at a breakpoint is looked for in the
 * markers (lz_find_last()); what is watched still needs the runs. */
#include "replayer/navigate/interval.h"
#include "replayer/navigate/back_windows.h"
#include "replayer/navigate/jump.h"
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_MARKERS = 64, FIRST_EVENTS = 16, GROW = 8 };
enum {
	NEAR_MARKERS = 1 << 18, /* a window this long is worth looking at the markers first, */
	NEAR_INDEXED = 512,     /* and this long where the index of the markers is already made */
	FAR_MARKERS = 1 << 21,  /* a window this long takes as long as going to one arrival */
	SCAN_BY_RUN = 64 /* ... and so is a stretch so many times as long as the next window */
};

/* Right before the signal or execve that a run back must not pass by. */
static int stop_event(struct lz_session *s, struct lz_stop *stop)
{
	const struct lz_event *ev = lz_reader_event(s->rp.reader, s->back_to - 1);
	struct lz_pos to;

	if (!ev)
		return -1;
	uint32_t signo = ev->signo;
	bool executes = ev->flags & LZ_EVF_REBASE;
	int ret = lz_session_before_event(s, ev, &to);

	if (ret == 2)
		return lz_session_stop_interrupted(s, stop);
	if (ret < 0 || lz_session_seek(s, &to) < 0)
		return -1;
	lz_session_fill(s, stop, executes ? LZ_STOP_EXEC : LZ_STOP_SIGNAL);
	if (executes)
		return 0;
	stop->signo = signo;
	s->signal_told = s->back_to;
	return 0;
}

/* Nothing stopped it before. */
static int stop_start(struct lz_session *s, struct lz_stop *stop)
{
	return s->back_to ? stop_event(s, stop) : lz_session_stop_start(s, stop);
}

/* ---- the run ---- */

static int stop_at_hit(struct lz_session *s, const struct lz_hit *hit, struct lz_stop *stop)
{
	struct lz_pos to;
	int ret = lz_session_resolve(s, hit, &to);

	if (ret == 2)
		return lz_session_stop_interrupted(s, stop);
	if (ret < 0 || lz_session_to_hit(s, hit, &to) < 0)
		return -1;
	lz_session_fill(s, stop, hit->kind == LZ_HIT_BREAK ? LZ_STOP_BREAKPOINT : LZ_STOP_WATCH);
	stop->watch_addr = hit->watch_addr;
	stop->watch_kind = hit->watch_kind;
	return 0;
}

/* RET is that of a scan. 1: it stopped. */
static int scan_failed(struct lz_session *s, int ret, struct lz_stop *stop)
{
	if (ret == LZ_SCAN_INTERRUPTED)
		return lz_session_stop_interrupted(s, stop), 1;
	if (ret == LZ_SCAN_DIVERGED) {
		lz_session_fill(s, stop, LZ_STOP_DIVERGED);
		return 1;
	}
	return ret == LZ_SCAN_PAST ? lz_fail("the present instant is not found again") : -1;
}

/* The gaps behind the one of HIT, and in front of END: nothing is in them. */
static void note_behind(struct lz_session *s, const struct lz_hit *hit, struct lz_gap_start end,
                        struct lz_quiet *q)
{
	const uint64_t next = lz_engine_next_marker(s->e, hit->pos.marker);

	if (q && next != UINT64_MAX)
		lz_quiet_add(q, (struct lz_gap_start){lz_gap_event(s, next), next}, end);
}

/* One window; 0: nothing in it, 1: stopped. HIT: there, if that is what has stopped it. */
static int look(struct lz_session *s, struct lz_gap_start start, const struct lz_scan_end *end,
                uint64_t skip, const struct lz_scan_what *what, struct lz_hit *hit,
                struct lz_stop *stop)
{
	struct lz_last last;
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, start.event, start.marker, &ret);
	if (!e)
		return ret == 2
		           ? (lz_session_stop_interrupted(s, stop), 1)
		           : lz_fail_in("going back to event %lu, marker %lu",
		                        (unsigned long)start.event, (unsigned long)start.marker);
	ret = lz_scan_last(s, e, end, what, skip, &last);
	if (ret < 0)
		return scan_failed(s, ret, stop);
	if (!last.any)
		return 0;
	ret = stop_at_hit(s, &last.hit, stop) < 0 ? -1 : 1;
	*hit = last.hit;
	lz_engine_free(last.from);
	return ret;
}

/* ---- breakpoints by their markers ---- */

/* Looked for once in a backward run, when the windows have become long. */
struct by_markers {
	struct lz_last_search search;
	uint64_t reads_from; /* in the interval that begins there is too much to run it */
	enum { NOT_TRIED, UNKNOWN, NONE, FOUND } state;
	struct lz_hit hit;
};

/* Is it cheaper now to scan the markers than to run the next window? */
static bool worth_finding(struct lz_session *s, struct lz_gap_start end, uint64_t markers)
{
	uint64_t cost = lz_find_last_cost(s, end.marker);

	return cost ? markers >= NEAR_MARKERS && cost / SCAN_BY_RUN <= markers
	            : markers >= NEAR_INDEXED;
}

enum { MOVED = 2 };

/* Before *END. 0; 1: stopped; MOVED, if it GIVES_WAY: to a new *END, before which running is
 * cheaper. */
static int find_break(struct lz_session *s, struct lz_gap_start *end, bool gives_way,
                      struct by_markers *b, struct lz_stop *stop)
{
	if (!s->n_breaks) {
		b->state = NONE;
		return 0;
	}
	struct lz_gap_start first = lz_back_first(s);
	b->search.floor = first.marker;
	b->search.reads_from = gives_way ? b->reads_from : 0;
	int ret = lz_find_last(s, &b->search, end);

	if (ret == LZ_SCAN_INTERRUPTED)
		return lz_session_stop_interrupted(s, stop), 1;
	if (ret == LZ_SCAN_DIVERGED) {
		lz_session_fill(s, stop, LZ_STOP_DIVERGED);
		return 1;
	}
	if (ret < 0)
		return -1;
	if (ret == LZ_FIND_SLOW)
		return MOVED;
	b->hit = (struct lz_hit){.pos = b->search.hit, .kind = LZ_HIT_BREAK};
	b->state = ret == LZ_FIND_UNKNOWN ? UNKNOWN : ret ? FOUND : NONE;
	if (lz_gap_cmp(b->hit.pos.event, b->hit.pos.marker, first.event, first.marker) < 0 &&
	    ret == 1)
		b->state = NONE; /* behind a signal that the run stops for */
	return 0;
}

/* With the last arrival at a breakpoint known: moves END back over what need not be run. 1:
 * stopped. */
static int skip_known(struct lz_session *s, struct lz_gap_start *end, const struct by_markers *b,
                      struct lz_stop *stop)
{
	struct lz_gap_start first = lz_back_first(s);
	bool known = b->state == NONE || b->state == FOUND;
	const struct lz_pos *hit = &b->hit.pos;

	*end = known && !s->n_watches ? first : lz_back_skip_clean(s, *end, known);
	if (b->state == FOUND && lz_gap_cmp(hit->event, hit->marker, end->event, end->marker) >= 0)
		return stop_at_hit(s, &b->hit, stop) < 0 ? -1 : 1;
	if (lz_gap_cmp(end->event, end->marker, first.event, first.marker) <= 0)
		return stop_start(s, stop) < 0 ? -1 : 1;
	return 0;
}

/* ---- conditions ---- */

/* A run back: the windows lie before `end`, and `to` is where the next one ends. */
struct search {
	struct lz_gap_start end;
	struct lz_scan_end to;
	struct lz_scan_what what;
	uint64_t markers, events; /* the next one's length */
	bool in_gap;              /* it ends in the middle of the present gap */
	bool jumped;              /* it ends right behind an arrival that is known */
	struct lz_gap_start now;  /* where the run begins */
	struct lz_quiet *quiet;   /* NULL: what is looked at need not be remembered */
};

static uint64_t more(uint64_t n)
{
	return n < UINT64_MAX / GROW ? n * GROW : n;
}

/* Where arrivals lie far apart, each is looked at in a window of its own, which need not be longer
 * than what it takes to find the next. */
static void resize(struct search *x, uint64_t arrivals)
{
	if (!x->jumped || arrivals > 1) {
		x->markers = more(x->markers);
		x->events = more(x->events);
	} else if (x->markers > FAR_MARKERS) {
		x->markers /= GROW;
		x->events = x->events / GROW > FIRST_EVENTS ? x->events / GROW : FIRST_EVENTS;
	}
}

static void end_at(struct search *x, struct lz_gap_start end)
{
	x->end = end;
	x->to = (struct lz_scan_end){.event = end.event, .marker = end.marker};
}

/* Past what has been looked at before. */
static bool skip_quiet(struct search *x)
{
	const struct lz_quiet *q = x->quiet;

	if (!q || x->in_gap || !lz_quiet_covers(q, x->end))
		return false;
	end_at(x, q->from);
	return true;
}

/* The interval before the end. 0: too much is in it, MOVED: nothing; 1: stopped. */
static int run_interval(struct lz_session *s, struct search *x, struct by_markers *b,
                        struct lz_stop *stop)
{
	struct lz_hit hit;
	int ret = lz_interval_run_back(s, &x->what, &x->end, &hit);

	end_at(x, x->end);
	if (ret == LZ_SCAN_MANY) {
		b->reads_from = lz_interval_before(s, x->end).marker;
		return 0;
	}
	if (ret < 0)
		return scan_failed(s, ret, stop);
	if (ret == 1) {
		note_behind(s, &hit, x->now, x->quiet);
		return stop_at_hit(s, &hit, stop) < 0 ? -1 : 1;
	}
	if (x->quiet)
		lz_quiet_add(x->quiet, x->end, x->now);
	return MOVED;
}

/* What the markers tell are arrivals, and not whether the condition holds there. If none lies in the
 * next window, the window ends behind the last one before. 1: stopped. */
static int skip_to_arrival(struct lz_session *s, struct search *x, struct by_markers *b,
                           struct lz_stop *stop)
{
	const struct lz_pos *hit = &b->hit.pos;
	struct lz_gap_start start;
	int ret = find_break(s, &x->end, true, b, stop);

	if (ret == MOVED)
		return run_interval(s, x, b, stop);
	if (ret)
		return ret;
	if (b->state == NONE)
		return stop_start(s, stop) < 0 ? -1 : 1;
	if (b->state == UNKNOWN)
		return 0;
	/* to be looked for anew before the next window */
	b->state = NOT_TRIED;
	if (lz_back_window(s, x->end, x->markers, x->events, &start) < 0)
		return -1;
	if (lz_gap_cmp(hit->event, hit->marker, start.event, start.marker) >= 0)
		return 0;
	x->jumped = true;
	x->end = (struct lz_gap_start){hit->event, hit->marker};
	x->to = (struct lz_scan_end){.event = hit->event, .marker = hit->marker, .gap_ends = true};
	return 0;
}

/* The same with a watchpoint, over what has not changed it. */
static int skip_clean_to_arrival(struct lz_session *s, struct search *x, struct by_markers *b,
                                 struct lz_stop *stop)
{
	const struct lz_pos *hit = &b->hit.pos;

	if (b->state == FOUND &&
	    lz_gap_cmp(x->end.event, x->end.marker, hit->event, hit->marker) <= 0)
		b->state = NOT_TRIED;
	int ret = b->state == NOT_TRIED ? find_break(s, &x->end, false, b, stop) : 0;
	if (ret || b->state == UNKNOWN)
		return ret;
	const struct lz_gap_start first = lz_back_first(s);
	end_at(x, lz_back_skip_clean(s, x->end, true));
	if (b->state == FOUND &&
	    lz_gap_cmp(x->end.event, x->end.marker, hit->event, hit->marker) <= 0) {
		b->state = NOT_TRIED;
		x->jumped = true;
		x->end = (struct lz_gap_start){hit->event, hit->marker};
		x->to = (struct lz_scan_end){
		    .event = hit->event, .marker = hit->marker, .gap_ends = true};
	} else if (lz_gap_cmp(x->end.event, x->end.marker, first.event, first.marker) <= 0) {
		return stop_start(s, stop) < 0 ? -1 : 1;
	}
	return 0;
}

/* To get to a window's start takes as long as to look for hits on the way. In a short window, where
 * a hit is likely, a short way is gone without. */
static struct lz_gap_start begin_at_base(struct lz_session *s, const struct search *x,
                                         struct lz_gap_start start)
{
	const struct lz_gap_start base = lz_session_base(s, start), first = lz_back_first(s);
	const uint64_t len = x->end.marker - start.marker, way = start.marker - base.marker;

	return (way > len / 2 || len >= NEAR_MARKERS) && way <= GROW * len &&
	               lz_gap_cmp(base.event, base.marker, first.event, first.marker) >= 0
	           ? base
	           : start;
}

/* Is it cheaper than to read the markers? */
static bool interval_pays(struct lz_session *s, const struct search *x, struct by_markers *b)
{
	const struct lz_gap_start start = lz_interval_before(s, x->end);

	if (x->in_gap || s->n_watches || start.marker >= b->reads_from)
		return false;
	if (!b->search.reading.bytes)
		b->search.reading = lz_reading_expected(s, x->what.addrs, x->what.n, x->end.event);
	return lz_interval_pays(s, &b->search.reading, start, x->end);
}

/* Before the next window: what need not be run. 1: stopped; MOVED: by an interval. */
static int skip_some(struct lz_session *s, struct search *x, struct by_markers *b,
                     struct lz_stop *stop)
{
	const bool conditions = x->what.conditions;
	const bool may = !conditions || (!x->in_gap && x->markers >= FAR_MARKERS);
	const bool worth = may && b->state == NOT_TRIED && worth_finding(s, x->end, x->markers);

	if (conditions && s->n_watches)
		return worth || (may && b->state != NOT_TRIED)
		           ? skip_clean_to_arrival(s, x, b, stop)
		           : 0;
	if (worth && !s->n_watches && skip_quiet(x))
		return MOVED;
	if (worth && interval_pays(s, x, b))
		return run_interval(s, x, b, stop);
	if (worth && conditions)
		return skip_to_arrival(s, x, b, stop);
	const bool gives_way = !x->in_gap && !s->n_watches;
	int ret = worth ? find_break(s, &x->end, gives_way, b, stop) : 0;
	if (ret == MOVED)
		return run_interval(s, x, b, stop);
	if (ret || x->in_gap)
		return ret;
	ret = skip_known(s, &x->end, b, stop);
	end_at(x, x->end);
	return ret;
}

/* The window before the end. */
static int look_back(struct lz_session *s, struct search *x, uint64_t skip, struct lz_stop *stop)
{
	const uint64_t before = s->false_arrivals;
	struct lz_hit hit = {.pos.marker = UINT64_MAX};
	struct lz_gap_start start;

	if (lz_back_window(s, x->end, x->markers, x->events, &start) < 0)
		return -1;
	start = begin_at_base(s, x, start);
	const int ret = look(s, start, &x->to, skip, &x->what, &hit, stop);
	if (ret == 1 && hit.pos.marker != UINT64_MAX)
		note_behind(s, &hit, x->now, x->quiet);
	if (ret == 0 && x->quiet)
		lz_quiet_add(x->quiet, start, x->now);
	end_at(x, start);
	x->in_gap = false;
	resize(x, s->false_arrivals - before);
	return ret;
}

static int run_back(struct lz_session *s, struct lz_stop *stop)
{
	uint64_t addrs[s->n_breaks + 1], skip;
	struct search x = {.end = {s->pos.event, s->pos.marker},
	                   .markers = FIRST_MARKERS,
	                   .events = FIRST_EVENTS,
	                   .in_gap = !lz_session_at_gap(s),
	                   .what = {.addrs = addrs,
	                            .n = s->n_breaks,
	                            .watch = s->n_watches > 0,
	                            .conditions = lz_session_conditional(s)}};
	struct by_markers found = {.search = {.addrs = addrs, .n = s->n_breaks},
	                           .reads_from = UINT64_MAX};
	const struct lz_gap_start first = lz_back_first(s);

	x.now = x.end;
	x.quiet = x.what.conditions ? NULL : lz_quiet_of(s);
	if (!s->n_breaks && !s->n_watches)
		return stop_start(s, stop);
	for (size_t i = 0; i < s->n_breaks; i++)
		addrs[i] = s->breaks[i].addr;
	int ret = lz_scan_end_here(s, &x.what, &x.to, &skip);
	if (ret)
		return scan_failed(s, ret, stop) < 0 ? -1 : 0;
	while (!ret) {
		if (!x.in_gap &&
		    lz_gap_cmp(x.end.event, x.end.marker, first.event, first.marker) <= 0)
			return stop_start(s, stop);
		x.jumped = false;
		ret = skip_some(s, &x, &found, stop);
		if (!ret && !skip_quiet(&x)) {
			ret = look_back(s, &x, skip, stop);
			skip = 0;
		}
		if (ret == MOVED)
			ret = 0;
	}
	return ret < 0 ? -1 : 0;
}

static int go_back(struct lz_session *s, struct lz_stop *stop)
{
	if (lz_session_signal_before(s, s->pos.event, &s->back_to) < 0)
		return -1;
	uint64_t begin = lz_session_program_begin(s);

	if (begin > s->back_to)
		s->back_to = begin;
	int ret = run_back(s, stop);

	s->back_to = 0;
	return ret;
}

int lz_session_run(struct lz_session *s, enum lz_direction d, struct lz_stop *stop)
{
	if (lz_session_begin_move(s) < 0)
		return -1;
	if (d == LZ_FORWARD)
		return lz_session_run_forward(s, stop);
	lz_session_progress(s, "running backwards");
	int ret = go_back(s, stop);
	lz_session_progress(s, NULL);
	return ret;
}
