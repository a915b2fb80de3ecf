/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/stream/decode_inside.h"

/* 0: it has no number of its own. */
static uint32_t number_of(const struct lz_pairs *t, uint32_t id)
{
	return id < t->side - 1 ? id : 0;
}

/* The edges at P, which TOP has written. */
static const uint8_t *count_edges(const struct lz_pairs *t, struct lz_act *top, uint32_t from,
                                  const uint8_t *p, const uint8_t *end)
{
	const uint32_t most = t->side - 2 < LZ_EDGE_MAX ? t->side - 2 : LZ_EDGE_MAX;
	uint64_t *square = t->square;
	const uint8_t *start = p;

	for (; p < end && (uint8_t)(*p - 1) < most; p++) {
		square[(size_t)from * t->side + *p]++;
		from = *p;
	}
	if (p > start) {
		top->last = from;
		top->node = 0;
	}
	return p;
}

static bool begin(struct lz_decoder *d, const uint8_t *p, uint64_t at)
{
	struct lz_act act = {
	    .enter = at, .last_at = at + 5, .entry = lz_load32(p + 1), .last = LZ_SET_ENTER};

	lz_act_identify(d, &act);
	if (act.fn == LZ_FN_NONE || !d->pairs[act.fn].square)
		return false;
	d->pairs[act.fn].calls++;
	lz_note_beginning(d, &act);
	d->acts[d->n++] = act;
	lz_note_running(d);
	return true;
}

const uint8_t *lz_count_pairs(struct lz_decoder *d, const uint8_t *p, const uint8_t *end,
                              uint64_t at)
{
	const uint8_t *start = p;

	while (p < end && d->n) {
		struct lz_act *top = &d->acts[d->n - 1];
		const uint8_t *from = p;

		if (top->tail || top->fn == LZ_FN_NONE || !d->pairs[top->fn].square)
			break;
		struct lz_pairs *t = &d->pairs[top->fn];
		uint32_t last = number_of(t, top->last);
		if (!last && top->last != LZ_SET_ENTER)
			break;
		p = count_edges(t, top, last, p, end);
		if (p > from) {
			top->last_at = at + (uint64_t)(p - start);
			last = top->last;
		}
		if (p < end && *p == LZ_EXIT) {
			t->square[(size_t)last * t->side]++;
			t->returns++;
			d->n--;
			lz_note_running(d);
			p++;
		} else if (end - p >= 5 && *p == LZ_ENTER && d->n < d->cap &&
		           begin(d, p, at + (uint64_t)(p - start))) {
			p += 5;
		} else {
			break;
		}
	}
	return p;
}
