/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the decoder share. */
#ifndef LIZARD_REPLAYER_DECODE_INSIDE_H
#define LIZARD_REPLAYER_DECODE_INSIDE_H

#include "replayer/stream/decode.h"
#include <string.h>

static inline uint32_t lz_load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void lz_act_identify(struct lz_decoder *d, struct lz_act *act)
{
	act->fn = lz_decoder_fn(d, act->entry, act->enter);
	act->limit =
	    act->fn != LZ_FN_NONE && d->n_markers ? d->n_markers(d->arg, act->fn) : UINT32_MAX;
}

/* The activation of the ENTER at P, stream offset AT, in the place above the stack, which has room:
 * a copy of one that has just been written waits until all of it is in the cache. */
static inline struct lz_act *lz_act_above(struct lz_decoder *d, const uint8_t *p, uint64_t at)
{
	struct lz_act *act = &d->acts[d->n];

	act->enter = at;
	act->last_at = at + 5;
	act->entry = lz_load32(p + 1);
	act->frame = 0;
	act->last = LZ_SET_ENTER;
	act->node = 0;
	act->tail = 0;
	act->inherited = 0;
	lz_act_identify(d, act);
	return act;
}

/* The activation on top runs. */
static inline void lz_note_running(struct lz_decoder *d)
{
	if (d->ran && d->n && d->acts[d->n - 1].fn != LZ_FN_NONE)
		d->ran[d->acts[d->n - 1].fn] |= LZ_RAN;
}

static inline void lz_note_beginning(struct lz_decoder *d, const struct lz_act *act)
{
	if (d->ran && act->fn != LZ_FN_NONE)
		d->ran[act->fn] |= LZ_BEGAN;
}

/* Counts what pairs of markers can be counted in D->pairs: edges, plain calls and returns. Passes
 * over calls of functions that WATCH, if given, leaves out. Up to the first byte that is anything
 * else, or END; AT: P's stream offset. */
const uint8_t *lz_count_pairs(struct lz_decoder *d, const uint8_t *p, const uint8_t *end,
                              uint64_t at, const uint8_t *watch);

#endif
