/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/back_windows.h"
#include <common/base/array.h>
#include <string.h>

struct lz_gap_start lz_back_first(struct lz_session *s)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);
	const struct lz_event *ev =
	    s->back_to ? lz_reader_event(s->rp.reader, s->back_to - 1) : NULL;

	if (ev)
		return lz_gap_later(s->not_before, (struct lz_gap_start){s->back_to, ev->marker});
	return ck ? lz_gap_later(s->not_before,
	                         (struct lz_gap_start){ck->pos.event, ck->pos.marker})
	          : s->not_before;
}

int lz_back_window(struct lz_session *s, struct lz_gap_start end, uint64_t markers, uint64_t events,
                   struct lz_gap_start *start)
{
	struct lz_gap_start m = lz_back_first(s), e = m;

	if (end.marker > m.marker + markers) {
		int64_t at = lz_marker_boundary_near(s, end.marker - markers);
		if (at < 0)
			return -1;
		m = (struct lz_gap_start){lz_gap_event(s, (uint64_t)at), (uint64_t)at};
	}
	if (end.event > e.event + events) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, end.event - events - 1);
		if (!ev)
			return -1;
		e = (struct lz_gap_start){end.event - events, ev->marker};
	}
	*start = lz_gap_later(m, e);
	return 0;
}

static bool page_dirty(const struct lz_session *s, const struct lz_checkpoint *ck)
{
	for (size_t i = 0; i < s->n_watches; i++) {
		uint64_t page = s->watches[i].addr & ~(uint64_t)(LZ_PAGE - 1);
		uint64_t end = s->watches[i].addr + s->watches[i].len;
		uint32_t first = lz_lower_bound(k, ck->n_dirty, ck->dirty[k] < page);
		if (first < ck->n_dirty && ck->dirty[first] < end)
			return true;
	}
	return false;
}

/* A gap's start at or behind the checkpoint, which may stand in the middle of one. */
static struct lz_gap_start behind(struct lz_session *s, const struct lz_checkpoint *ck)
{
	if (lz_checkpoint_starts_gap(s, ck))
		return (struct lz_gap_start){ck->pos.event, ck->pos.marker};
	uint64_t next = lz_engine_next_marker(s->e, ck->pos.marker);
	if (next == UINT64_MAX)
		return (struct lz_gap_start){UINT64_MAX, UINT64_MAX};
	return (struct lz_gap_start){lz_gap_event(s, next), next};
}

struct lz_gap_start lz_back_skip_clean(struct lz_session *s, struct lz_gap_start end,
                                       bool breaks_known)
{
	struct lz_reader *r = s->rp.reader;
	uint32_t i = lz_reader_checkpoint_before(r, end.event, end.marker);

	for (size_t k = 0; k < s->n_watches; k++)
		if (!strchr("ws", s->watches[k].kind))
			return end;
	if ((s->n_breaks && !breaks_known) || i >= lz_reader_n_checkpoints(r))
		return end;
	/* END lies in the interval behind checkpoint i: that one is clean if checkpoint i+1 says
	 * so */
	for (i++; i > 0; i--) {
		if (i >= lz_reader_n_checkpoints(r))
			break;
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);
		const struct lz_checkpoint *before = lz_reader_checkpoint(r, i - 1);
		if (!ck || !before || ck->whole || !ck->exact || page_dirty(s, ck) ||
		    lz_session_remapped_between(s, before->pos.event, ck->pos.event))
			break;
		struct lz_gap_start g = behind(s, before);
		if (lz_gap_cmp(g.event, g.marker, end.event, end.marker) < 0)
			end = g;
	}
	return end;
}
