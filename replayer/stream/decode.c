/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include "replayer/stream/decode.h"
#include "replayer/stream/decode_inside.h"
#include "replayer/stream/edges.h"

enum { MAX_DEPTH = 1 << 26 }; /* activations: a damaged stream must not eat all memory */

void lz_decoder_init(struct lz_decoder *d)
{
	*d = (struct lz_decoder){0};
}

static void drop_parked(struct lz_decoder *d, size_t i)
{
	free(d->parked[i].acts);
	d->n_parked--;
	memmove(&d->parked[i], &d->parked[i + 1], (d->n_parked - i) * sizeof(*d->parked));
}

static void free_stack(struct lz_stack *st)
{
	for (size_t i = 0; i < st->n_parked; i++)
		free(st->parked[i].acts);
	free(st->parked);
	free(st->acts);
	*st = (struct lz_stack){0};
}

void lz_decoder_reset(struct lz_decoder *d)
{
	while (d->n_parked)
		drop_parked(d, d->n_parked - 1);
	d->n = 0;
	d->landed.act = d->landed.last = 0;
	d->resolved.behind = 0;
	for (uint32_t i = 0; i < d->n_stacks; i++)
		free_stack(&d->stack[i]);
	d->thread = 0;
}

void lz_decoder_free(struct lz_decoder *d)
{
	lz_decoder_reset(d);
	free(d->acts);
	free(d->parked);
	free(d->stack);
	d->acts = NULL;
	d->parked = NULL;
	d->stack = NULL;
	d->cap = d->n_stacks = 0;
}

static int make_stacks(struct lz_decoder *d, uint32_t n)
{
	uint32_t had = d->n_stacks;

	if (lz_reserve(d->stack, d->n_stacks, n) < 0)
		return lz_fail("out of memory for the call stacks of %u threads", n);
	if (d->n_stacks > had)
		memset(d->stack + had, 0, (d->n_stacks - had) * sizeof(*d->stack));
	return 0;
}

void lz_decoder_drop(struct lz_decoder *d, uint32_t thread)
{
	if (thread < d->n_stacks && thread != d->thread)
		free_stack(&d->stack[thread]);
}

static void drop_older_half(struct lz_decoder *d)
{
	d->oddities++;
	memmove(d->acts, d->acts + d->n / 2, (d->n - d->n / 2) * sizeof(*d->acts));
	d->n -= d->n / 2;
	for (size_t i = 0; i < d->n; i++)
		d->acts[i].node = 0;
}

int lz_decoder_push(struct lz_decoder *d, const struct lz_act *act)
{
	/* Only a stream that lost its exits gets that deep. */
	if (d->n >= MAX_DEPTH)
		drop_older_half(d);
	if (lz_reserve(d->acts, d->cap, d->n + 1) < 0)
		return lz_fail("out of memory for a call stack of %zu activations", d->n);
	d->acts[d->n++] = *act;
	return 0;
}

/* Anything but an exit shows that functions that ended in a tail call are gone. */
static void drop_tails(struct lz_decoder *d)
{
	while (d->n && d->acts[d->n - 1].tail)
		d->n--;
}

/* Is it of interest what the running activation writes? */
static bool inside(const struct lz_decoder *d, const uint8_t *watch)
{
	const struct lz_act *top = d->n ? &d->acts[d->n - 1] : NULL;

	return watch && top && top->fn != LZ_FN_NONE && watch[top->fn] == LZ_WATCH_ALL;
}

int lz_decoder_switch(struct lz_decoder *d, uint32_t thread)
{
	struct lz_stack *st;

	if (thread == d->thread)
		return 0;
	if (make_stacks(d, (thread > d->thread ? thread : d->thread) + 1))
		return -1;
	d->stack[d->thread] = (struct lz_stack){d->acts, d->n, d->cap, d->parked, d->n_parked};
	st = &d->stack[thread];
	d->acts = st->acts;
	d->n = st->n;
	d->cap = st->cap;
	d->parked = st->parked;
	d->n_parked = st->n_parked;
	*st = (struct lz_stack){0};
	d->thread = thread;
	lz_note_running(d);
	return 0;
}

static int enter(struct lz_decoder *d, const struct lz_mark *m)
{
	struct lz_act *top = lz_decoder_top(d);
	struct lz_act act = {
	    .enter = m->offset, .entry = m->entry, .last = LZ_SET_ENTER, .last_at = m->offset + 5};

	lz_act_identify(d, &act);
	lz_note_beginning(d, &act);
	if (top && top->tail == 1) {
		top->tail = 2; /* this is the callee of the call in tail position */
		top->node = 0;
	} else if (top && top->tail)
		drop_tails(d);
	return lz_decoder_push(d, &act);
}

static void leave(struct lz_decoder *d)
{
	if (!d->n) {
		d->oddities++;
		return;
	}
	/* Its own exit, or that of the one below? Functions of which both kinds exist are rare. */
	if (d->acts[d->n - 1].tail)
		d->oddities++;
	d->n--;
}

static void tail(struct lz_decoder *d)
{
	struct lz_act *top = lz_decoder_top(d);
	enum lz_tail kind = LZ_TAIL_GONE;

	if (!top) {
		d->oddities++;
		return;
	}
	if (d->tail && top->fn != LZ_FN_NONE)
		kind = d->tail(d->arg, top->fn);
	if (kind == LZ_TAIL_GONE) {
		d->n--;
	} else if (kind == LZ_TAIL_EITHER) {
		top->tail = 1;
		top->node = 0;
	}
}

/* Cuts the activations above BASE off and keeps them, in case they are a coroutine's. */
static int park(struct lz_decoder *d, size_t base)
{
	struct lz_parked *p;
	size_t n = d->n - base;

	d->n = base;
	if (!n || n > LZ_MAX_PARKED_ACTS)
		return 0;
	if (!d->parked)
		d->parked = calloc(LZ_MAX_PARKED, sizeof(*d->parked));
	if (!d->parked)
		return lz_fail("out of memory for a parked call stack");
	if (d->n_parked == LZ_MAX_PARKED)
		drop_parked(d, 0);
	p = &d->parked[d->n_parked];
	p->acts = malloc(n * sizeof(*p->acts));
	if (!p->acts)
		return lz_fail("out of memory for a parked call stack");
	memcpy(p->acts, &d->acts[base], n * sizeof(*p->acts));
	for (size_t i = 0; i < n; i++)
		p->acts[i].node = 0;
	p->n = n;
	p->base = base;
	d->n_parked++;
	return 0;
}

static bool is_activation(const struct lz_act *a, const struct lz_mark *m)
{
	return a->entry == m->entry && (a->frame == m->frame || a->frame == LZ_FRAME_ANY);
}

/* Puts parked stack I back on, and parks what ran instead of it. */
static int unpark(struct lz_decoder *d, size_t i, size_t upto)
{
	struct lz_parked p = d->parked[i];
	int rc;

	d->n_parked--;
	memmove(&d->parked[i], &d->parked[i + 1], (d->n_parked - i) * sizeof(*d->parked));
	rc = park(d, p.base < d->n ? p.base : d->n);
	for (size_t k = 0; !rc && k < upto; k++) {
		p.acts[k].node = 0; /* saved without what is below it now */
		rc = lz_decoder_push(d, &p.acts[k]);
	}
	free(p.acts);
	return rc;
}

/* The first landing names the activation. */
static bool is_first_landing(const struct lz_act *top, const struct lz_mark *m)
{
	return top && top->entry == m->entry && !top->frame && top->last == LZ_SET_ENTER;
}

const struct lz_act *lz_decoder_landed(const struct lz_decoder *d, const struct lz_mark *m,
                                       size_t *stay)
{
	*stay = d->n;
	if (d->n && is_first_landing(&d->acts[d->n - 1], m))
		return &d->acts[d->n - 1];
	for (size_t i = d->n; i-- > 0;)
		if (is_activation(&d->acts[i], m)) {
			*stay = i + 1;
			return &d->acts[i];
		}
	for (size_t i = d->n_parked; i-- > 0;)
		for (size_t k = d->parked[i].n; k-- > 0;)
			if (is_activation(&d->parked[i].acts[k], m)) {
				*stay = d->parked[i].base < d->n ? d->parked[i].base : d->n;
				return &d->parked[i].acts[k];
			}
	return NULL;
}

static void note_landing(struct lz_decoder *d, const struct lz_act *in)
{
	d->landed.act = in ? lz_act_id(in) : 0;
	d->landed.last = in ? in->last : 0;
}

static int landing(struct lz_decoder *d, const struct lz_mark *m)
{
	struct lz_act *top = lz_decoder_top(d);

	note_landing(d, NULL);
	if (is_first_landing(top, m)) {
		note_landing(d, top);
		top->frame = m->frame;
		top->last_at = m->offset + 9;
		top->node = 0;
		return 0;
	}
	for (size_t i = d->n; i-- > 0;) {
		if (!is_activation(&d->acts[i], m))
			continue;
		note_landing(d, &d->acts[i]);
		if (park(d, i + 1))
			return -1;
		goto arrived;
	}
	for (size_t i = d->n_parked; i-- > 0;) {
		for (size_t k = d->parked[i].n; k-- > 0;) {
			if (!is_activation(&d->parked[i].acts[k], m))
				continue;
			note_landing(d, &d->parked[i].acts[k]);
			if (unpark(d, i, k + 1))
				return -1;
			goto arrived;
		}
	}
	d->oddities++;
	if (enter(d, m))
		return -1;
	lz_decoder_top(d)->frame = m->frame;
arrived:
	top = lz_decoder_top(d);
	top->frame = m->frame;
	top->last = LZ_LAST_LANDING;
	top->last_at = m->offset + 9;
	top->node = 0;
	top->tail = 0;
	return 0;
}

/* Marker ID of the running activation. */
static void edge(struct lz_decoder *d, uint32_t id, uint64_t behind)
{
	struct lz_act *top = lz_decoder_top(d);

	if (top && top->tail) {
		drop_tails(d);
		top = lz_decoder_top(d);
	}
	if (!top) {
		d->oddities++;
		return;
	}
	d->oddities += id > top->limit;
	top->last = id;
	top->last_at = behind;
	top->node = 0;
}

static int apply(struct lz_decoder *d, const struct lz_mark *m)
{
	switch (m->code) {
	case LZ_ENTER: return enter(d, m);
	case LZ_EXIT: leave(d); return 0;
	case LZ_TAIL: tail(d); return 0;
	case LZ_LANDING: return landing(d, m);
	default: edge(d, m->id, m->offset + lz_marker_size(m->code)); return 0;
	}
}

static void parse(const uint8_t *p, struct lz_mark *m)
{
	uint16_t id;

	m->code = *p;
	m->id = m->entry = m->frame = 0;
	switch (*p) {
	case LZ_WIDE:
		memcpy(&id, p + 1, sizeof(id));
		m->id = id;
		break;
	case LZ_WIDE32: m->id = lz_load32(p + 1); break;
	case LZ_ENTER: m->entry = lz_load32(p + 1); break;
	case LZ_LANDING:
		m->entry = lz_load32(p + 1);
		m->frame = lz_load32(p + 5);
		break;
	case LZ_EXIT:
	case LZ_TAIL: break;
	default: m->id = *p;
	}
}

static bool watched(struct lz_decoder *d, const struct lz_mark *m, const uint8_t *watch)
{
	uint32_t fn;

	if (!watch || inside(d, watch))
		return true;
	if (m->code != LZ_ENTER && m->code != LZ_LANDING)
		return false;
	fn = lz_decoder_fn(d, m->entry, m->offset);
	return fn != LZ_FN_NONE && watch[fn];
}

/* Nobody need look at a call of function FN: it is counted. */
static bool count_call(struct lz_decoder *d, uint32_t fn)
{
	if (!d->pairs || !d->pairs[fn].square)
		return false;
	d->pairs[fn].calls++;
	return true;
}

/* What most of a stream is, where nobody looks at each marker: edges, of which the last one
 * before another marker counts, plain calls and returns. Up to the first byte that is anything
 * else, or is near END; AT: P's stream offset. */
static const uint8_t *feed_plain(struct lz_decoder *d, const uint8_t *p, const uint8_t *end,
                                 uint64_t at, const uint8_t *watch)
{
	const uint8_t *start = p;

	while (end - p >= 32) {
		struct lz_act *top = lz_decoder_top(d);
		unsigned n = lz_count_edges(p);

		if (top ? top->tail || inside(d, watch) : !d->inner || *p != LZ_ENTER)
			break;
		if (n) {
			p += n;
			top->last = p[-1];
			top->last_at = at + (uint64_t)(p - start);
			top->node = 0;
			d->oddities += top->last > top->limit;
		}
		if (n == 16)
			continue;
		if (*p == LZ_EXIT) {
			d->n--;
			p++;
		} else if (*p == LZ_ENTER && d->n < d->cap) {
			const struct lz_act *act = lz_act_above(d, p, at + (uint64_t)(p - start));

			if (watch && act->fn != LZ_FN_NONE && watch[act->fn] &&
			    !count_call(d, act->fn))
				break;
			lz_note_beginning(d, act);
			d->n++;
			p += 5;
		} else {
			break;
		}
		lz_note_running(d);
	}
	return p;
}

/* The same for edges only, whatever comes before and behind them. */
static const uint8_t *skip_edges(struct lz_decoder *d, const uint8_t *p, const uint8_t *end,
                                 uint64_t at)
{
	const uint8_t *start = p;

	while (end - p >= 16 && lz_count_edges(p) == 16)
		p += 16;
	while (p < end && (uint8_t)(*p - 1) < LZ_EDGE_MAX)
		p++;
	if (p > start)
		edge(d, p[-1], at + (uint64_t)(p - start));
	return p;
}

/* Does the marker at P concern what is below all activations, or may it? */
static bool concerns_below(const struct lz_decoder *d, const uint8_t *p, size_t len)
{
	const struct lz_act *top = d->n ? &d->acts[d->n - 1] : NULL;
	struct lz_mark m;

	if (*p == LZ_ENTER || len < lz_marker_size(*p))
		return false;
	if (!top)
		return true;
	if (*p == LZ_TAIL)
		return d->tail && top->fn != LZ_FN_NONE &&
		       d->tail(d->arg, top->fn) == LZ_TAIL_EITHER;
	if (*p != LZ_LANDING)
		return false;
	parse(p, &m);
	return !is_first_landing(top, &m);
}

int64_t lz_decoder_feed(struct lz_decoder *d, const uint8_t *bytes, size_t len, uint64_t offset,
                        const uint8_t *watch, lz_mark_fn *fn, void *arg)
{
	const uint8_t *p = bytes, *end = bytes + len, *gap = bytes;

	while (p < end) {
		struct lz_mark m;
		unsigned size;
		int rc;

		if (d->inner && concerns_below(d, p, (size_t)(end - p)))
			break;
		if (fn && d->pairs) {
			const uint8_t *q =
			    lz_count_pairs(d, p, end, offset + (uint64_t)(p - bytes), watch);

			if (q > p) {
				p = gap = q;
				continue;
			}
		}
		if (!fn || d->calls_only || (watch && !inside(d, watch))) {
			const uint8_t *q = p;

			if (!fn || !d->calls_only)
				q = feed_plain(d, p, end, offset + (uint64_t)(p - bytes),
				               fn ? watch : NULL);
			if (q == p)
				q = skip_edges(d, p, end, offset + (uint64_t)(p - bytes));
			if (q > p) {
				p = gap = q;
				continue;
			}
		}
		size = lz_marker_size(*p);
		if (!size) {
			d->oddities++;
			p++;
			continue;
		}
		if ((size_t)(end - p) < size)
			break;
		parse(p, &m);
		m.offset = offset + (p - bytes);
		m.from = offset + (gap - bytes);
		if (fn && !(d->calls_only && m.id) && watched(d, &m, watch)) {
			rc = fn(arg, d, &m);
			if (rc)
				return rc < 0 ? rc : p - bytes;
		}
		if (apply(d, &m))
			return -1;
		lz_note_running(d);
		p += size;
		gap = p;
	}
	return p - bytes;
}
