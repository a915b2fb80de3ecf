/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/stream/decode_inside.h"

#include <lizard/error.h>
#include <stdlib.h>

int lz_pairs_make(struct lz_pairs *p, uint32_t n_markers, size_t *left)
{
	p->side = n_markers + 2;
	const size_t n = (size_t)p->side * p->side;
	if (n > *left / sizeof(*p->square))
		return 0;
	*left -= n * sizeof(*p->square);
	p->square = calloc(n, sizeof(*p->square));
	return p->square ? 0 : lz_fail("out of memory for %zu pairs of markers", n);
}

static struct lz_act *running(const struct lz_decoder *d)
{
	return d->n ? &d->acts[d->n - 1] : NULL;
}

/* 0: it has no number of its own. */
static uint32_t number_of(const struct lz_pairs *t, uint32_t id)
{
	return id < t->side - 1 ? id : 0;
}

/* Can be counted what TOP writes next? */
static bool is_counted(const struct lz_decoder *d, const struct lz_act *top)
{
	const struct lz_pairs *t = top->fn == LZ_FN_NONE ? NULL : &d->pairs[top->fn];

	return !top->tail && t && t->square &&
	       (top->last == LZ_SET_ENTER || number_of(t, top->last));
}

/* 0: no edge that is counted begins at P. */
static uint32_t wide_edge(const struct lz_pairs *t, const uint8_t *p, const uint8_t *end)
{
	const uint32_t id = end - p >= 3 && *p == LZ_WIDE ? p[1] | (uint32_t)p[2] << 8 : 0;

	return number_of(t, id);
}

/* The edges at P, which TOP has written. */
static const uint8_t *count_edges(const struct lz_pairs *t, struct lz_act *top, const uint8_t *p,
                                  const uint8_t *end, uint64_t at)
{
	const uint32_t most = t->side - 2 < LZ_EDGE_MAX ? t->side - 2 : LZ_EDGE_MAX;
	uint64_t *square = t->square;
	const uint8_t *start = p;
	uint32_t from = number_of(t, top->last), wide;

	do {
		for (; p < end && (uint8_t)(*p - 1) < most; p++) {
			square[(size_t)from * t->side + *p]++;
			from = *p;
		}
		wide = wide_edge(t, p, end);
		if (wide) {
			square[(size_t)from * t->side + wide]++;
			from = wide;
			p += 3;
		}
	} while (wide);
	if (p > start) {
		top->last = from;
		top->last_at = at + (uint64_t)(p - start);
		top->node = 0;
	}
	return p;
}

static void leave(struct lz_decoder *d, struct lz_pairs *t, const struct lz_act *top)
{
	t->square[(size_t)number_of(t, top->last) * t->side]++;
	t->returns++;
	d->n--;
	lz_note_running(d);
}

/* A call that is counted, or of a function that is of no interest. */
static bool begin(struct lz_decoder *d, const uint8_t *p, const uint8_t *end, uint64_t at,
                  const uint8_t *watch)
{
	if (end - p < 5 || *p != LZ_ENTER || d->n >= d->cap)
		return false;
	const struct lz_act *act = lz_act_above(d, p, at);
	const bool known = act->fn != LZ_FN_NONE;
	if (known && d->pairs[act->fn].square)
		d->pairs[act->fn].calls++;
	else if (!watch || (known && watch[act->fn]))
		return false;
	lz_note_beginning(d, act);
	d->n++;
	lz_note_running(d);
	return true;
}

const uint8_t *lz_count_pairs(struct lz_decoder *d, const uint8_t *p, const uint8_t *end,
                              uint64_t at, const uint8_t *watch)
{
	const uint8_t *start = p;

	while (p < end) {
		struct lz_act *top = running(d);

		if (top ? !is_counted(d, top) : !d->inner)
			break;
		struct lz_pairs *t = top ? &d->pairs[top->fn] : NULL;
		if (t)
			p = count_edges(t, top, p, end, at + (uint64_t)(p - start));
		if (t && p < end && *p == LZ_EXIT) {
			leave(d, t, top);
			p++;
		} else if (begin(d, p, end, at + (uint64_t)(p - start), watch)) {
			p += 5;
		} else {
			break;
		}
	}
	return p;
}
