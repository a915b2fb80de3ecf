/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/own_markers.h"

#include <stdlib.h>
#include <common/base/array.h>
#include <lizard/error.h>

enum { INLINES_MAX = 16 };

static bool is_own(const struct lz_own_marks *o, const struct lz_act *top, const struct lz_mark *m)
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
	struct lz_own_marks *o = arg;

	if (d->thread != o->thread || !is_own(o, lz_decoder_top(d), m))
		return 0;
	if (lz_reserve(o->mark, o->cap, o->n + 1) < 0)
		return lz_fail("out of memory for the markers of one activation");
	o->mark[o->n++] = (struct lz_own_mark){m->offset + lz_marker_size(m->code), m->id};
	return 0;
}

int lz_own_marks_in_block(struct lz_nav *nav, uint32_t block, const struct lz_candidate *k,
                          struct lz_own_marks *o)
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

/* For each marker id of FN: is any copy of its code in more than INLINES inlined calls? NULL:
 * out of memory. */
static bool *find_inside(struct lz_nav *nav, const struct lz_fn *fn, uint32_t inlines)
{
	const struct lz_cfg *cfg = lz_module_cfg(nav->modules, fn->mod);
	struct lz_lines *lines = lz_module_lines(nav->modules, fn->mod);
	bool *inside = calloc((size_t)fn->f->n_markers + 1, sizeof(*inside));
	struct lz_inline in[INLINES_MAX];
	size_t n;
	const struct lz_cfg_site *site = lz_cfg_sites(cfg, &n);

	for (size_t i = 0; inside && lines && i < n; i++)
		if (site[i].id && site[i].id <= fn->f->n_markers &&
		    lz_cfg_func(cfg, site[i].func) == fn->f &&
		    lz_lines_inlines(lines, site[i].addr, in, INLINES_MAX) > inlines)
			inside[site[i].id] = true;
	return inside;
}

int lz_own_marks_outside(struct lz_nav *nav, struct lz_own_marks *o, uint32_t inlines)
{
	const struct lz_fn *fn;
	bool *inside;
	size_t kept = 0;

	if (!o->n || o->act->fn == LZ_FN_NONE)
		return 0;
	fn = lz_stream_fn(nav->stream, o->act->fn);
	inside = find_inside(nav, fn, inlines);
	if (!inside)
		return lz_fail("out of memory for navigation");
	for (size_t i = 0; i < o->n; i++)
		if (o->mark[i].id > fn->f->n_markers || !inside[o->mark[i].id])
			o->mark[kept++] = o->mark[i];
	o->n = kept;
	free(inside);
	return 0;
}
