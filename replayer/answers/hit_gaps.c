/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/hit_gaps.h"

#include <common/base/array.h>
#include <stdlib.h>

enum { MOST_CALLS = 256 };

void lz_gaps_free(struct lz_gaps *g)
{
	free(g->frame);
	free(g->call);
	*g = (struct lz_gaps){0};
}

static void drop(struct lz_gaps *g)
{
	g->n_calls = g->frame[--g->n_frames].first;
}

/* Those above DEPTH are gone, and one there that is another's. */
static struct lz_gap_frame *frame_of(struct lz_gaps *g, uint64_t act, size_t depth)
{
	while (g->n_frames && g->frame[g->n_frames - 1].depth > depth)
		drop(g);
	struct lz_gap_frame *f = g->n_frames ? &g->frame[g->n_frames - 1] : NULL;
	if (!f || f->depth < depth)
		return NULL;
	if (f->act == act)
		return f;
	drop(g);
	return NULL;
}

int lz_gaps_add(struct lz_gaps *g, uint64_t act, size_t depth, uint64_t from, uint32_t entry)
{
	struct lz_gap_frame *f = frame_of(g, act, depth);

	if (!f) {
		if (lz_reserve(g->frame, g->frames_room, g->n_frames + 1) < 0)
			return -1;
		f = &g->frame[g->n_frames++];
		*f = (struct lz_gap_frame){.act = act, .depth = depth, .first = g->n_calls};
	}
	f->many |= g->n_calls - f->first == MOST_CALLS;
	if (f->many)
		return 0;
	if (lz_reserve(g->call, g->calls_room, g->n_calls + 1) < 0)
		return -1;
	g->call[g->n_calls++] = (struct lz_gap_call){from, entry};
	return 0;
}

const struct lz_gap_call *lz_gaps_of(struct lz_gaps *g, uint64_t act, size_t depth, size_t *n,
                                     bool *many)
{
	const struct lz_gap_frame *f = frame_of(g, act, depth);

	*n = f ? g->n_calls - f->first : 0;
	*many = f && f->many;
	return f ? &g->call[f->first] : NULL;
}

void lz_gaps_clear(struct lz_gaps *g, size_t depth)
{
	while (g->n_frames && g->frame[g->n_frames - 1].depth >= depth)
		drop(g);
}
