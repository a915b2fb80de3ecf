/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/skipped_anchors.h"

#include "replayer/navigate/step_inside.h"
#include "replayer/navigate/stop_chain.h"
#include "replayer/program/cxx_names.h"
#include "replayer/session/session.h"
#include <common/base/cleanup.h>

/* ---- functions ---- */

static bool is_skipped_fn(struct lz_nav *nav, uint32_t number)
{
	const struct lz_fn *fn = number == LZ_FN_NONE ? NULL : lz_stream_fn(nav->stream, number);

	if (!fn)
		return false;
	lz_auto_free char *name = lz_cxx_demangled(fn->f->name);
	return lz_skips_has(nav->machine.skips, name ? name : fn->f->name, fn->f->file);
}

/* The outermost activation of D's stack that is skipped, of those that the goal is not in. */
static const struct lz_act *skipped_act(struct lz_nav *nav, const struct lz_decoder *d,
                                        const struct lz_act *goal, size_t n)
{
	size_t i = 0;

	while (i < d->n && i < n && lz_act_id(&d->acts[i]) == lz_act_id(&goal[i]))
		i++;
	while (i < d->n && !is_skipped_fn(nav, d->acts[i].fn))
		i++;
	return i < d->n ? &d->acts[i] : NULL;
}

/* Behind its exit marker control is still in an activation: that one counts, too. */
static const struct lz_act *act_around(struct lz_nav *nav, uint64_t anchor,
                                       const struct lz_act *goal, size_t n)
{
	const struct lz_decoder *d = lz_stream_stack(nav->stream, anchor, nav->thread);
	const struct lz_act *act = d ? skipped_act(nav, d, goal, n) : NULL;
	const size_t depth = d ? d->n : 0;

	if (act || !anchor)
		return act;
	d = lz_stream_stack(nav->stream, anchor - 1, nav->thread);
	return d && d->n > depth ? skipped_act(nav, d, goal, n) : NULL;
}

/* ---- inlined calls ---- */

static bool is_around(struct lz_nav *nav, uint64_t pc, uint64_t id)
{
	struct lz_inline in[STEP_INLINES];
	size_t hidden, n = step_inlines(&nav->machine, pc, in, &hidden);

	while (n && in[n - 1].id != id)
		n--;
	return n > 0;
}

static int begins_in_inlined(struct lz_nav *nav, uint64_t anchor)
{
	struct lz_inline in[STEP_INLINES];
	struct lz_pos at;

	if (lz_chain_seek(nav, anchor))
		return -1;
	lz_session_where(nav->s, &at);
	size_t hidden, n = step_inlines(&nav->machine, at.ip, in, &hidden);
	const size_t i = step_skipped_inline(&nav->machine, at.ip, in, n, 0, n);
	return i < n && !is_around(nav, nav->goal.ip, in[i].id);
}

int lz_anchor_is_skipped(struct lz_nav *nav, uint64_t anchor, const struct lz_act *goal, size_t n,
                         uint64_t *earlier)
{
	const struct lz_act *act = act_around(nav, anchor, goal, n);

	*earlier = anchor;
	if (!act)
		return begins_in_inlined(nav, anchor);
	const int64_t outside = lz_nav_own_end(nav, act->enter);
	if (outside < 0)
		return -1;
	if ((uint64_t)outside < anchor)
		*earlier = (uint64_t)outside;
	return 1;
}
