/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a stretch of the recording and reports every arrival at given addresses and every watched
 * change in it, with positions: what reverse-continue and navigation search in. */
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { AT_END = 1 << 30 };

/* Arrivals at one address in the gap at hand. */
struct counter {
	uint64_t event, marker;
	uint32_t n;
};

struct scan {
	struct lz_session *s;
	struct lz_engine *e;
	const struct lz_scan_end *end;
	const struct lz_scan_what *what;
	struct counter *counts;
	struct counter changes;
	uint32_t end_seen; /* arrivals at end->pos in its gap */
	bool in_end_gap;
	bool slice_ends; /* it does behind the next instruction: an instant that is over */
	uint64_t stops;
	int (*fn)(void *arg, const struct lz_hit *hit);
	void *arg;
};

static uint32_t count(struct lz_engine *e, struct counter *c)
{
	if (c->event != e->event || c->marker != e->marker || !c->n)
		*c = (struct counter){e->event, e->marker, 0};
	return ++c->n;
}

/* AGAIN: it is no hit, but counts. So is one whose condition does not hold. */
static int hit_break(struct scan *c, bool again)
{
	struct lz_engine *e = c->e;

	for (size_t i = 0; i < c->what->n; i++) {
		if (c->what->addrs[i] != e->regs.rip)
			continue;
		struct lz_hit h = {.kind = LZ_HIT_BREAK,
		                   .pos = {lz_engine_tid(e), count(e, &c->counts[i]), e->event,
		                           e->marker, e->regs.rip}};
		if (again || (c->what->conditions && !lz_session_holds(c->s, e)))
			return 0;
		c->stops++;
		return c->fn(c->arg, &h);
	}
	return 0;
}

static int hit_watch(struct scan *c, const struct lz_user_watch *w)
{
	struct lz_engine *e = c->e;
	struct lz_hit h = {
	    .kind = LZ_HIT_WATCH,
	    .pos = {lz_engine_tid(e), count(e, &c->changes), e->event, e->marker, e->regs.rip},
	    .watch_addr = w->addr,
	    .watch_kind = w->kind};

	return c->fn(c->arg, &h);
}

/* The event just applied, in the gap before it. */
static int hit_event(struct scan *c, const struct lz_user_watch *w, uint32_t tid, uint64_t marker)
{
	struct lz_hit h = {.kind = LZ_HIT_EVENT_WATCH,
	                   .pos = {tid, 1, c->e->event - 1, marker, c->e->regs.rip},
	                   .watch_addr = w->addr,
	                   .watch_kind = w->kind};

	return c->fn(c->arg, &h);
}

static int hit_slice(struct scan *c)
{
	struct lz_hit h = {.kind = LZ_HIT_SLICE};

	return c->fn(c->arg, &h);
}

static bool in_end_gap(const struct scan *c)
{
	return c->e->event == c->end->event && c->e->marker == c->end->marker;
}

/* AT_END: the end is here; ARRIVED: control has just come to this address. */
static int at_end(struct scan *c, bool arrived)
{
	struct lz_engine *e = c->e;
	const struct lz_scan_end *end = c->end;

	if (lz_gap_cmp(e->event, e->marker, end->event, end->marker) < 0)
		return 0;
	if (end->gap_ends)
		return in_end_gap(c) ? 0 : AT_END;
	if (!in_end_gap(c))
		return LZ_SCAN_PAST;
	if (!end->pos)
		return AT_END;
	if (!c->in_end_gap) {
		c->in_end_gap = true;
		e->want.ip = end->pos->ip;
		arrived |= e->regs.rip == end->pos->ip;
	}
	if (arrived && e->regs.rip == end->pos->ip)
		c->end_seen++;
	return c->end_seen >= end->pos->n ? AT_END : 0;
}

static int apply(struct scan *c, struct lz_halt *h)
{
	struct lz_engine *e = c->e;
	uint64_t marker = e->marker;
	uint32_t tid = lz_engine_tid(e);

	h->flags = 0;
	if (e->event == e->rp->end.event)
		return LZ_SCAN_PAST;
	if (lz_engine_apply(e, h) < 0)
		return -1;
	struct lz_user_watch *w = c->what->watch ? lz_watch_check(c->s, e, NULL) : NULL;
	return w ? hit_event(c, w, tid, marker) : 0;
}

/* What a resume is to halt for. */
static void want(struct scan *c)
{
	struct lz_engine *e = c->e;
	const struct lz_scan_end *end = c->end;

	e->want.cpu_ns = c->what->slice_ns;
	e->want.marker = lz_snapshot_plan(c->s, e);
	if (e->event == end->event && e->marker < end->marker && end->marker < e->want.marker)
		e->want.marker = end->marker;
	if (end->gap_ends && in_end_gap(c))
		e->want.marker = lz_engine_next_kept(e, e->marker);
}

/* Something of the program's. */
static int meet(struct scan *c, struct lz_halt *h)
{
	if (h->flags & LZ_HALT_WATCH)
		c->stops++;
	if (h->flags & LZ_HALT_WATCH && c->what->watch) {
		struct lz_user_watch *w = lz_watch_check(c->s, c->e, h);
		return w ? hit_watch(c, w) : 0;
	}
	return h->flags & LZ_HALT_EVENT ? apply(c, h) : 0;
}

static int one(struct scan *c)
{
	struct lz_engine *e = c->e;
	bool gap_ends = c->end->gap_ends, step = c->slice_ends;
	struct lz_halt h;
	int ret = 0;

	want(c);
	c->slice_ends = false;
	if (lz_engine_resume(e, step, &h) < 0)
		return -1;
	if (h.flags & LZ_HALT_INTERRUPT)
		return LZ_SCAN_INTERRUPTED;
	if (h.flags & LZ_HALT_DIVERGED)
		return LZ_SCAN_DIVERGED;
	c->slice_ends = h.flags & LZ_HALT_SLICE;
	if (gap_ends && h.flags & (LZ_HALT_EVENT | LZ_HALT_END) && !(h.flags & LZ_HALT_WATCH) &&
	    in_end_gap(c))
		return AT_END;
	/* the end's own address counts as arrived at */
	if (h.flags & LZ_HALT_END)
		return (ret = at_end(c, true)) ? ret : LZ_SCAN_PAST;
	if (gap_ends)
		ret = at_end(c, false);
	if (!ret)
		ret = meet(c, &h);
	if (!ret)
		ret = at_end(c, h.flags & LZ_HALT_EXEC);
	if (!ret && h.flags & LZ_HALT_BREAK)
		ret = hit_break(c, h.flags & LZ_HALT_GOES_ON);
	if (!ret && step)
		ret = hit_slice(c);
	if (!ret && h.flags == LZ_HALT_MARKER)
		ret = lz_snapshot_maybe(c->s, e);
	return !ret && c->what->most && c->stops >= c->what->most ? LZ_SCAN_MANY : ret;
}

static int begin(struct scan *c)
{
	if (lz_engine_break(c->e, c->what->addrs, c->what->n) < 0 ||
	    (c->what->watch && lz_watch_arm(c->s, c->e) < 0))
		return -1;
	c->e->calls.until = c->what->watch && lz_watch_looks(c->s) ? 0 : c->end->event;
	int ret = at_end(c, false);
	return ret || lz_engine_in_kernel(c->e) ? ret : hit_break(c, false);
}

static int leave(struct lz_engine *e)
{
	e->calls.until = 0;
	if (lz_engine_calls_off(e) < 0)
		return -1;
	lz_engine_unbreak(e);
	lz_engine_break(e, NULL, 0);
	e->want = (struct lz_engine_want){.marker = UINT64_MAX};
	memset(e->debug.user, 0, sizeof e->debug.user);
	return lz_engine_drop_guards(e);
}

int lz_scan(struct lz_session *s, struct lz_engine *e, const struct lz_scan_end *end,
            const struct lz_scan_what *what, int (*fn)(void *arg, const struct lz_hit *hit),
            void *arg)
{
	struct scan c = {.s = s, .e = e, .end = end, .what = what, .fn = fn, .arg = arg};

	c.counts = calloc(what->n + 1, sizeof *c.counts);
	if (!c.counts)
		return lz_fail("out of memory");
	int ret = begin(&c);
	while (!ret)
		ret = one(&c);
	free(c.counts);
	if (leave(e) < 0)
		return -1;
	return ret == AT_END ? 0 : ret;
}
