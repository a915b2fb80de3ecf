#include "replayer/own.h"

#include <stdlib.h>
#include <lizard/error.h>

static bool is_own(const struct lz_own *o, const struct lz_act *top, const struct lz_mark *m)
{
	switch (m->code) {
	case LZ_ENTER:
	case LZ_EXIT:
	case LZ_TAIL: return false;
	case LZ_LANDING: /* the activation that it names, not the one that was left */
		return m->offset >= lz_act_begin(o->act) && m->entry == o->act->entry &&
		       (m->frame == o->act->frame || o->act->frame == LZ_FRAME_ANY);
	default: return top && lz_act_id(top) == lz_act_id(o->act);
	}
}

static int note_own(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct lz_own *o = arg;

	if (d->thread != o->thread || !is_own(o, lz_decoder_top(d), m))
		return 0;
	if (o->n == o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 256;
		uint64_t *p = reallocarray(o->at, cap, sizeof(*p));

		if (!p)
			return lz_fail("out of memory for the markers of one activation");
		o->at = p;
		o->cap = cap;
	}
	o->at[o->n++] = m->offset + lz_marker_size(m->code);
	return 0;
}

int lz_own_in_block(struct lz_nav *nav, uint32_t block, const struct lz_candidate *k,
                    struct lz_own *o)
{
	uint8_t *watch = calloc(lz_stream_n_fns(nav->stream) + 1, 1);
	int rc;

	o->act = &k->act;
	o->thread = nav->thread;
	o->n = 0;
	if (!watch)
		return lz_fail("out of memory for navigation");
	if (k->act.fn != LZ_FN_NONE)
		watch[k->act.fn] = 1;
	if (k->local)
		rc = lz_stream_decode_local(nav->stream, block, nav->goal.marker, watch, note_own,
		                            o);
	else
		rc = lz_stream_decode(nav->stream, block, nav->goal.marker, watch, note_own, o);
	free(watch);
	if (rc < 0)
		return -1;
	return k->local || lz_stream_block_of(nav->stream, k->act.enter) >= block;
}
