/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/tokens.h"

#include "replayer/compare/mix.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = (1 << 24) - 1 };

void lz_tokens_begin(struct lz_tokens *t, uint64_t offset)
{
	t->first = t->n = t->n_frames = 0;
	t->next = offset;
	t->end = false;
}

void lz_tokens_free(struct lz_tokens *t)
{
	free(t->v);
	free(t->frame);
	t->v = NULL;
	t->frame = NULL;
}

void lz_tokens_drop(struct lz_tokens *t, size_t n)
{
	t->first += n;
	t->n -= n;
}

/* ---- stacks ---- */

static void set_frame(struct lz_tokens *t, size_t i, const struct lz_act *act)
{
	const struct lz_token_frame *below = i ? &t->frame[i - 1] : NULL;
	const uint32_t number = lz_paired_fn(t->fns, t->side, act->fn);
	const bool alone = lz_paired_kind(t->fns, number) == LZ_PAIR_ALONE;

	t->frame[i] = (struct lz_token_frame){.id = lz_act_id(act),
	                                      .key = below && (alone || below->out)
	                                                 ? below->key
	                                                 : lz_mix(below ? below->key : 0, number),
	                                      .number = number,
	                                      .out = alone || (below && below->out)};
}

/* Makes the frames those of ACTS. An activation that is there was called by the same ones. */
static int follow(struct lz_tokens *t, const struct lz_act *acts, size_t n)
{
	size_t known = n < t->n_frames ? n : t->n_frames;

	while (known && t->frame[known - 1].id != lz_act_id(&acts[known - 1]))
		known--;
	if (lz_reserve(t->frame, t->frames_room, n) < 0)
		return -1;
	for (; known < n; known++)
		set_frame(t, known, &acts[known]);
	t->n_frames = n;
	return 0;
}

/* ---- markers ---- */

static int add(struct lz_tokens *t, const struct lz_mark *m, uint32_t id)
{
	const size_t depth = t->n_frames;
	const uint64_t below = depth ? t->frame[depth - 1].key : 0;

	if (lz_reserve(t->v, t->room, t->first + t->n + 1) < 0)
		return -1;
	t->v[t->first + t->n++] =
	    (struct lz_token){.offset = m->offset,
	                      .key = lz_mix(below, (uint64_t)m->code << 32 | id),
	                      .id = id,
	                      .code = m->code,
	                      .depth = depth < DEEPEST ? (uint32_t)depth : DEEPEST};
	return 0;
}

/* Control lands in a frame that is there, or in another one. */
static int land(struct lz_tokens *t, struct lz_decoder *d, const struct lz_mark *m)
{
	const uint32_t number =
	    lz_paired_fn(t->fns, t->side, lz_decoder_fn(d, m->entry, m->offset));
	size_t stay;
	const struct lz_act *to = lz_decoder_landed(d, m, &stay);
	const bool here = to && to >= d->acts && to < d->acts + d->n;

	if (follow(t, d->acts, here ? (size_t)(to - d->acts) + 1 : stay) < 0)
		return -1;
	if ((t->n_frames && t->frame[t->n_frames - 1].out) ||
	    lz_paired_kind(t->fns, number) != LZ_PAIR_SAME)
		return 0;
	return add(t, m, number);
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct lz_tokens *t = arg;
	uint32_t id = m->id;

	if (m->offset < t->next || d->thread != t->thread)
		return 0;
	if (m->code == LZ_LANDING)
		return land(t, d, m);
	if (follow(t, d->acts, d->n) < 0)
		return -1;
	const struct lz_token_frame *top = t->n_frames ? &t->frame[t->n_frames - 1] : NULL;
	if (top && top->out)
		return 0;
	if (m->code == LZ_ENTER) {
		id = lz_paired_fn(t->fns, t->side, lz_decoder_fn(d, m->entry, m->offset));
		return lz_paired_kind(t->fns, id) == LZ_PAIR_ALONE ? 0 : add(t, m, id);
	}
	if (m->code != LZ_EXIT && top && lz_paired_kind(t->fns, top->number) != LZ_PAIR_SAME)
		return 0;
	return add(t, m, id);
}

/* ---- the window ---- */

/* The strand's first offset that is not before t->next. */
static bool find_turn(struct lz_tokens *t)
{
	const struct lz_stream_threads *threads = &t->a->threads;
	uint32_t turn = lz_stream_thread_turn_before(threads, t->thread, t->next + 1);

	if (turn == LZ_NO_TURN)
		turn = threads->first[t->thread];
	while (turn != LZ_NO_TURN && lz_turn_end(threads, turn) <= t->next)
		turn = t->a->turns.v[turn].after;
	if (turn == LZ_NO_TURN)
		return false;
	if (t->a->turns.v[turn].marker > t->next)
		t->next = t->a->turns.v[turn].marker;
	return t->next < t->a->to;
}

static int decode(struct lz_tokens *t)
{
	struct lz_asked *a = t->a;
	const uint32_t tid = lz_reader_meta(a->reader)->tid;
	const uint32_t block = lz_stream_block_of(a->stream, t->next);
	uint64_t start, len;

	if (lz_reader_block(a->reader, tid, block, &start, &len) < 0)
		return -1;
	const uint64_t end = start + len < a->to ? start + len : a->to;
	if (lz_stream_decode(a->stream, block, end, NULL, on_mark, t) < 0)
		return -1;
	t->next = end > t->next ? end : t->next + 1;
	return 0;
}

int lz_tokens_want(struct lz_tokens *t, size_t n)
{
	if (t->n >= n || t->end)
		return 0;
	if (t->n)
		memmove(t->v, t->v + t->first, t->n * sizeof(*t->v));
	t->first = 0;
	while (t->n < n) {
		t->end = !find_turn(t);
		if (t->end)
			return 0;
		if (decode(t) < 0 || lz_work_done(t->work, 0) < 0)
			return -1;
	}
	return 0;
}
