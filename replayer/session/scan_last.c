/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last hit of a stretch. Each hit costs a stop, so where there are many the stretch is run
 * without breakpoints and watchpoints, and copies are kept at equal distances of CPU time. The
 * last copy behind which there is a hit begins a shorter stretch, until that has few. */
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <stdlib.h>

enum {
	/* stops */
	FEW = 4096,
	MOST = 200000,
	NEAR = 16, /* hits */
	COPIES = 12,
	FIRST_SLICE_NS = 1000000,
	LAST_SLICE_NS = 10000,
	FINER = 4
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
	const struct lz_scan_end *end;
	struct lz_scan_what what;
	uint64_t skip;
	struct tail tail;
	struct lz_engine *base; /* more than SKIP hits lie behind it, most likely */
	struct lz_engine *running;
	bool from_base; /* what is kept in TAIL counts from the base */
	struct lz_engine *copies[COPIES];
	unsigned n;
	uint64_t slice_ns, span_ns,
	    done_ns; /* SPAN: how far behind BASE the last hit lies; 0: unknown */
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

int64_t lz_scan_count(struct lz_session *s, struct lz_engine *e, const struct lz_scan_end *end,
                      const struct lz_scan_what *what, uint64_t most)
{
	int64_t n = count(s, e, end, what, most);

	lz_engine_free(e);
	return n;
}

/* Hits behind FROM, up to one more than are left out; LZ_SCAN_MANY: most stops are none. With a
 * known span those that count lie within it: that is only to save time, as the last stretch is run
 * to its end. */
static int64_t count_from(struct search *x, struct lz_engine *from)
{
	struct lz_scan_what what = x->what;
	struct lz_engine *e = lz_engine_fork(from);

	what.slice_ns = x->skip ? 0 : 2 * x->span_ns;
	what.most = MOST + x->skip;
	return e ? lz_scan_count(x->s, e, x->end, &what, x->skip + 1) : -1;
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
		if (i % 2)
			x->copies[n++] = x->copies[i];
		else
			lz_engine_free(x->copies[i]);
	x->n = n;
	x->slice_ns *= 2;
}

static int copy_here(void *arg, const struct lz_hit *hit)
{
	struct search *x = arg;

	(void)hit;
	x->done_ns += x->slice_ns;
	if (x->span_ns && x->done_ns > x->span_ns)
		return 1;
	struct lz_engine *e = lz_engine_fork(x->running);
	if (!e)
		return -1;
	x->copies[x->n++] = e;
	if (x->n == COPIES)
		thin(x);
	return 0;
}

/* From the base to the end, or over the span. */
static int make_copies(struct search *x)
{
	struct lz_scan_what what = {.slice_ns = x->slice_ns};

	x->done_ns = 0;
	x->running = lz_engine_fork(x->base);
	if (!x->running)
		return -1;
	int ret = lz_scan(x->s, x->running, x->end, &what, copy_here, x);
	lz_engine_free(x->running);
	return ret < 0 ? ret : 0;
}

/* ---- the search ---- */

/* The last copy that has a hit behind it becomes the base. */
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
	if (from) {
		lz_engine_free(x->base);
		x->base = x->copies[from - 1];
		x->copies[from - 1] = NULL;
	}
	drop(x, 0);
	return 0;
}

/* Runs from the base to the end; MOST stops, 0: any number. */
static int finish(struct search *x, uint64_t most)
{
	struct lz_scan_what what = x->what;
	struct lz_engine *e = lz_engine_fork(x->base);

	if (!e)
		return -1;
	what.most = most;
	x->from_base = true;
	int ret = lz_scan(x->s, e, x->end, &what, keep, x);
	lz_engine_free(e);
	return ret;
}

/* The base moves on to right behind N hits. */
static int move_base(struct search *x, uint64_t n)
{
	struct lz_engine *e = lz_engine_fork(x->base);
	int64_t seen = e ? count(x->s, e, x->end, &x->what, n) : -1;

	if (seen < 0) {
		lz_engine_free(e);
		return (int)seen;
	}
	lz_engine_free(x->base);
	x->base = e;
	return 0;
}

/* Until few stops are left behind the base. */
static int narrow(struct search *x)
{
	int ret = LZ_SCAN_MANY;

	while (ret == LZ_SCAN_MANY && x->slice_ns >= LAST_SLICE_NS) {
		ret = make_copies(x);
		if (!ret)
			ret = choose(x);
		drop(x, 0);
		if (ret)
			break;
		x->span_ns = 2 * x->slice_ns;
		x->slice_ns /= FINER;
		x->tail.n = 0;
		ret = finish(x, FEW + x->skip);
	}
	if (ret != LZ_SCAN_MANY)
		return ret;
	x->tail.n = 0;
	return finish(x, 0);
}

/* There are more than SKIP hits behind the base. */
static int search_behind(struct search *x)
{
	int ret = narrow(x);

	if (ret || x->tail.n <= x->skip + NEAR)
		return ret;
	ret = move_base(x, x->tail.n - x->skip - 1);
	x->tail.n = 0;
	return ret ? ret : finish(x, 0);
}

/* MANY stops were made already, the last of them at the base. */
static int search_long(struct search *x)
{
	int64_t n = count_from(x, x->base);

	if (n == LZ_SCAN_MANY)
		return finish(x, 0);
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
	struct search x = {.s = s, .end = end, .what = *what, .skip = skip, .base = e};
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
	few.most = end->pos ? 0 : FEW + skip;
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
