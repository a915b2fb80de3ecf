/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last hit of a stretch. Each hit costs a stop, so where there are many only some are met: a part
 * of the stretch is passed over behind each, as far as markers tell where parts end. Where they do
 * not, it is run without breakpoints and watchpoints, and copies are kept at equal distances of CPU
 * time. The last copy behind which there is a hit begins a shorter stretch, until that has few. */
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <stdlib.h>

enum {
	/* stops */
	FEW = 256,
	MOST = 200000,
	STOP_MARKERS = 32768, /* as long as one takes to run over so many */
	SHORT = 1024,         /* so few markers */
	SHORT_FEW = 4096,
	PARTS = 8,
	NEAR = 16,  /* hits */
	FAR = 4096, /* arrivals */
	COPIES = 12,
	FIRST_SLICE_NS = 1000000,
	LAST_SLICE_NS = 10000,
	FINER = 6,
	TRIES = 60,
	TRIES_IN_VAIN = 6
};

/* The last hits: enough to leave out some. */
struct tail {
	struct lz_hit *v;
	size_t room;
	uint64_t n;
};

/* The last one without the SKIP last ones, of which there must be room for. */
static const struct lz_hit *without(const struct tail *t, uint64_t skip)
{
	return t->n > skip ? &t->v[(t->n - 1 - skip) % t->room] : NULL;
}

struct search {
	struct lz_session *s;
	struct lz_scan_end end; /* or behind a copy that has no hit behind it */
	struct lz_scan_what what, copying;
	uint64_t skip;
	struct tail tail;
	struct lz_engine *base; /* more than SKIP hits lie behind it, most likely */
	struct lz_engine *running;
	bool from_base; /* what is kept in TAIL counts from the base */
	struct lz_engine *copies[COPIES];
	/* the CPU time from the base to each, and to the end */
	uint64_t at_ns[COPIES], begin_ns, end_ns;
	unsigned n;
	uint64_t slice_ns;
	uint64_t span_ns; /* about how far behind the base the last hit lies; 0: unknown */
	bool in_one_gap;  /* all of the span is: only the time tells where it ends */
};

static int keep(void *arg, const struct lz_hit *hit)
{
	struct search *x = arg;
	struct lz_hit *to = &x->tail.v[x->tail.n++ % x->tail.room];
	bool same_gap = hit->pos.event == x->base->event && hit->pos.marker == x->base->marker;

	*to = *hit;
	to->from = x->from_base && same_gap && hit->kind != LZ_HIT_EVENT_WATCH ? x->base : NULL;
	return 0;
}

/* ---- counting ---- */

struct counted {
	uint64_t n, most;
};

static int count_hit(void *arg, const struct lz_hit *hit)
{
	struct counted *c = arg;

	return hit->kind == LZ_HIT_SLICE || ++c->n >= c->most;
}

static int64_t count(struct lz_session *s, struct lz_engine *e, const struct lz_scan_end *end,
                     const struct lz_scan_what *what, uint64_t most)
{
	struct counted c = {.most = most};
	int ret = lz_scan(s, e, end, what, count_hit, &c);

	return ret < 0 ? ret : (int64_t)c.n;
}

/* The same from a copy of FROM. */
static int64_t count_copy(struct lz_session *s, struct lz_engine *from,
                          const struct lz_scan_end *end, const struct lz_scan_what *what,
                          uint64_t most)
{
	struct lz_engine *e = lz_engine_fork(from);
	int64_t n = e ? count(s, e, end, what, most) : -1;

	lz_engine_free(e);
	return n;
}

/* Hits behind FROM, up to one more than are left out; LZ_SCAN_MANY: most stops are none. In one
 * gap those that count lie within the span: that is only to save time, as the last stretch is run
 * to its end. */
static int64_t count_from(struct search *x, struct lz_engine *from)
{
	struct lz_scan_what what = x->what;

	what.slice_ns = x->in_one_gap && !x->skip ? 2 * x->span_ns : 0;
	what.most = MOST + x->skip;
	return count_copy(x->s, from, &x->end, &what, x->skip + 1);
}

/* ---- copies ---- */

static void drop(struct search *x, unsigned from)
{
	for (unsigned i = from; i < x->n; i++)
		lz_engine_free(x->copies[i]);
	x->n = from < x->n ? from : x->n;
}

/* Every other one goes. */
static void thin(struct search *x)
{
	unsigned n = 0;

	for (unsigned i = 0; i < x->n; i++)
		if (i % 2) {
			x->at_ns[n] = x->at_ns[i];
			x->copies[n++] = x->copies[i];
		} else {
			lz_engine_free(x->copies[i]);
		}
	x->n = n;
	x->copying.slice_ns *= 2;
}

static int copy_here(void *arg, const struct lz_hit *hit)
{
	struct search *x = arg;

	(void)hit;
	uint64_t now = lz_engine_cpu_ns(x->running) - x->begin_ns;
	if (x->in_one_gap && now > x->span_ns)
		return 1;
	struct lz_engine *e = lz_engine_fork(x->running);
	if (!e)
		return -1;
	x->at_ns[x->n] = now;
	x->copies[x->n++] = e;
	if (x->n == COPIES)
		thin(x);
	return 0;
}

/* From the base on. */
static int make_copies(struct search *x)
{
	x->copying = (struct lz_scan_what){.slice_ns = x->slice_ns};
	x->running = lz_engine_fork(x->base);
	if (!x->running)
		return -1;
	x->begin_ns = lz_engine_cpu_ns(x->running);
	int ret = lz_scan(x->s, x->running, &x->end, &x->copying, copy_here, x);
	x->end_ns = lz_engine_cpu_ns(x->running) - x->begin_ns;
	lz_engine_free(x->running);
	return ret < 0 ? ret : 0;
}

/* ---- the hits behind the base ---- */

/* Runs from the base on, and keeps the hits behind those kept so far; MOST stops, 0: any number. */
static int go_on(struct search *x, uint64_t most)
{
	struct lz_engine *e = lz_engine_fork(x->base);
	struct lz_scan_what what = x->what;

	if (!e)
		return -1;
	x->from_base = true;
	what.most = most;
	int ret = lz_scan(x->s, e, &x->end, &what, keep, x);
	lz_engine_free(e);
	return ret;
}

/* The hits behind the base only. */
static int finish(struct search *x, uint64_t most)
{
	x->tail.n = 0;
	return go_on(x, most);
}

/* ---- by markers ---- */

/* A gap about LEN markers behind E and before the end; false: none is known. */
static bool gap_behind(struct search *x, const struct lz_engine *e, uint64_t len,
                       struct lz_gap_start *gap)
{
	if (x->end.marker <= e->marker + len)
		return false;
	const int64_t at = lz_marker_boundary_near(x->s, e->marker + len);
	if (at <= (int64_t)e->marker)
		return false;
	*gap = (struct lz_gap_start){lz_gap_event(x->s, (uint64_t)at), (uint64_t)at};
	return lz_gap_cmp(gap->event, gap->marker, x->end.event, x->end.marker) < 0;
}

/* The base moves to GAP, to which E is run, and E to right behind the next hit. 0: there is none
 * behind GAP, which becomes the end. */
static int64_t pass(struct search *x, struct lz_engine *e, const struct lz_gap_start *gap)
{
	struct lz_scan_what what = x->what;
	int64_t n = lz_engine_to_gap(e, gap->event, gap->marker);

	if (n)
		return n == 2 ? LZ_SCAN_INTERRUPTED : -1;
	struct lz_engine *copy = lz_engine_fork(e);
	if (!copy)
		return -1;
	what.most = MOST;
	n = count(x->s, e, &x->end, &what, 1);
	if (n > 0) {
		lz_engine_free(x->base);
		x->base = copy;
		return n;
	}
	lz_engine_free(copy);
	if (!n)
		x->end = (struct lz_scan_end){.event = gap->event, .marker = gap->marker};
	return n;
}

/* Where the hit behind which E stands is far from the base, that moves on to a part before it. */
static int64_t follow(struct search *x, const struct lz_engine *e, uint64_t len)
{
	struct lz_gap_start gap;

	if (e->marker < x->base->marker + 2 * len ||
	    !gap_behind(x, x->base, e->marker - x->base->marker - len, &gap))
		return 0;
	const int ret = lz_engine_to_gap(x->base, gap.event, gap.marker);
	return ret == 2 ? LZ_SCAN_INTERRUPTED : ret ? -1 : 0;
}

/* Behind each hit a part of the stretch is passed over. The last hit is in the part that has none
 * behind it, or behind where the last but one ended. 1: no part can be told. */
static int shorten(struct search *x)
{
	const uint64_t len = (x->end.marker - x->base->marker) / PARTS;
	struct lz_gap_start gap;
	int64_t n;

	if (len < SHORT / PARTS || !gap_behind(x, x->base, len, &gap))
		return 1;
	struct lz_engine *e = lz_engine_fork(x->base);
	if (!e)
		return -1;
	do
		n = pass(x, e, &gap);
	while (n > 0 && gap_behind(x, e, len, &gap));
	if (n > 0)
		n = follow(x, e, len);
	lz_engine_free(e);
	return n < 0 ? (int)n : 0;
}

/* A copy near the hit stays, for those who go there. */
static int narrow_by_markers(struct search *x)
{
	const struct lz_engine *first = x->base;
	int ret = LZ_SCAN_MANY;

	/* those that are left out lie in the last gap */
	while (ret == LZ_SCAN_MANY && !x->skip) {
		int known = shorten(x);
		if (known < 0)
			return known;
		if (known)
			break;
		ret = finish(x, FEW);
	}
	if (x->base != first && lz_snapshot_keep(x->s, x->base) < 0)
		return -1;
	return ret;
}

/* ---- the search ---- */

/* No hit that counts is behind NEXT, and one is behind BASE. How long the program takes between
 * copies depends on the copies, so the span is measured in markers where there are some. */
static void narrow_to(struct search *x, const struct lz_engine *base, const struct lz_engine *next)
{
	x->in_one_gap =
	    next ? base->event == next->event && base->marker == next->marker : x->in_one_gap;
	if (next && !x->skip)
		x->end = (struct lz_scan_end){
		    .event = next->event, .marker = next->marker, .gap_ends = true};
}

/* The last copy that has a hit behind it becomes the base, and the span reaches over the next one. 1:
 * none has, and the base stays. */
static int choose(struct search *x)
{
	unsigned from = 0, to = x->n;

	while (from < to) {
		unsigned mid = from + (to - from) / 2;
		int64_t n = count_from(x, x->copies[mid]);
		if (n < 0)
			return (int)n;
		if ((uint64_t)n > x->skip)
			from = mid + 1;
		else
			to = mid;
	}
	uint64_t next = from < x->n ? x->at_ns[from] : x->end_ns;
	x->span_ns = 2 * (next - (from ? x->at_ns[from - 1] : 0));
	narrow_to(x, from ? x->copies[from - 1] : x->base, from < x->n ? x->copies[from] : NULL);
	if (from) {
		lz_engine_free(x->base);
		x->base = x->copies[from - 1];
		x->copies[from - 1] = NULL;
	}
	drop(x, 0);
	return !from;
}

/* The base moves on to right behind N hits. */
static int move_base(struct search *x, uint64_t n)
{
	struct lz_engine *e = lz_engine_fork(x->base);
	int64_t seen = e ? count(x->s, e, &x->end, &x->what, n) : -1;

	if (seen < 0) {
		lz_engine_free(e);
		return (int)seen;
	}
	lz_engine_free(x->base);
	x->base = e;
	return 0;
}

/* The base moves on until few hits are behind it, and they are found; LZ_SCAN_MANY: until no
 * shorter slice can be made. */
static int narrow(struct search *x)
{
	uint64_t few = FEW;
	int in_vain = 0;

	for (int i = 0; i < TRIES && in_vain < TRIES_IN_VAIN; i++) {
		int ret = make_copies(x);
		if (!ret)
			ret = choose(x);
		drop(x, 0);
		if (ret < 0)
			return ret;
		int found = x->skip || x->in_one_gap ? LZ_SCAN_MANY : finish(x, few);
		if (found != LZ_SCAN_MANY)
			return found;
		few *= few < MOST ? 2 : 1;
		in_vain = ret ? in_vain + 1 : 0;
		x->slice_ns = x->span_ns / (2 * FINER) >> in_vain;
		if (x->slice_ns < LAST_SLICE_NS)
			x->slice_ns = LAST_SLICE_NS;
	}
	return LZ_SCAN_MANY;
}

/* There are more than SKIP hits behind the base. */
static int search_behind(struct search *x)
{
	int ret = narrow_by_markers(x);

	if (ret == LZ_SCAN_MANY && !x->skip)
		ret = finish(x, SHORT_FEW);
	if (ret == LZ_SCAN_MANY)
		ret = narrow(x);
	if (ret == LZ_SCAN_MANY)
		ret = finish(x, 0);
	const struct lz_hit *hit = without(&x->tail, x->skip);
	if (ret || x->tail.n <= x->skip + NEAR || !hit || !hit->from)
		return ret;
	ret = move_base(x, x->tail.n - x->skip - 1);
	return ret ? ret : finish(x, 0);
}

/* MANY stops were made already, the last of them at the base. */
static int search_long(struct search *x)
{
	int64_t n = count_from(x, x->base);

	if (n == LZ_SCAN_MANY)
		return go_on(x, 0);
	if (n < 0)
		return (int)n;
	if ((uint64_t)n > x->skip)
		return search_behind(x);
	/* an arrival at the base is in both counts */
	const struct lz_hit *at = without(&x->tail, 0);
	if (n && at && at->kind == LZ_HIT_BREAK && at->pos.ip == x->base->regs.rip)
		n--;
	x->skip -= (uint64_t)n;
	return 0;
}

int lz_scan_last(struct lz_session *s, struct lz_engine *e, const struct lz_scan_end *end,
                 const struct lz_scan_what *what, uint64_t skip, struct lz_last *last)
{
	struct search x = {.s = s, .end = *end, .what = *what, .skip = skip, .base = e};
	struct lz_scan_what few = *what;

	*last = (struct lz_last){0};
	x.slice_ns = FIRST_SLICE_NS;
	x.tail.room = skip + 1;
	x.tail.v = calloc(x.tail.room, sizeof *x.tail.v);
	if (!x.tail.v) {
		lz_engine_free(e);
		return lz_fail("out of memory");
	}
	/* a scan to a position counts arrivals there: it cannot go on from a copy */
	few.most = end->pos ? 0 : FEW + skip + (end->marker - e->marker) / STOP_MARKERS;
	int ret = lz_scan(s, e, end, &few, keep, &x);
	if (ret == LZ_SCAN_MANY)
		ret = search_long(&x);
	const struct lz_hit *hit = without(&x.tail, x.skip);
	if (!ret && hit) {
		last->any = true;
		last->hit = *hit;
		last->from = hit->from;
	}
	if (!last->from)
		lz_engine_free(x.base);
	free(x.tail.v);
	return ret;
}

int lz_scan_end_here(struct lz_session *s, const struct lz_scan_what *what, struct lz_scan_end *end,
                     uint64_t *skip)
{
	bool far = !s->pos.n || s->pos.n > FAR;

	*end =
	    (struct lz_scan_end){.event = s->pos.event, .marker = s->pos.marker, .gap_ends = far};
	*skip = 0;
	if (lz_session_at_gap(s))
		return 0;
	if (far) {
		struct lz_scan_what few = *what;
		few.most = 2 * FAR;
		int64_t n = count_copy(s, s->e, end, &few, FAR + 1);
		*skip = n > 0 ? (uint64_t)n : 0;
		if (n <= FAR && n != LZ_SCAN_MANY)
			return n < 0 ? (int)n : 0;
	}
	*skip = 0;
	end->gap_ends = false;
	end->pos = &s->pos;
	return lz_session_name(s);
}
