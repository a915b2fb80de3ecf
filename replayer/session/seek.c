/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeking. */
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int not_found(const struct lz_pos *pos)
{
	char text[LZ_POS_TEXT];

	lz_pos_print(pos, text);
	return lz_fail("the position %s does not occur in this recording", text);
}

static int not_reached(const struct lz_session *s, const struct lz_pos *pos)
{
	if (s->rp.diverged)
		return lz_fail("replay diverged: %s", s->rp.divergence);
	return not_found(pos);
}

static int not_kept(const struct lz_pos *pos)
{
	char text[LZ_POS_TEXT];

	lz_pos_print(pos, text);
	return lz_fail("the position %s lies in an earlier part of the run, which was not kept",
	               text);
}

static int other_thread(const struct lz_pos *pos, uint32_t tid)
{
	char text[LZ_POS_TEXT];

	lz_pos_print(pos, text);
	return lz_fail("the position %s does not occur in this recording: thread %u runs there",
	               text, tid);
}

static bool same_pos(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->n == b->n && a->event == b->event && a->marker == b->marker && a->ip == b->ip;
}

static bool in_spin(struct lz_session *s, const struct lz_pos *pos)
{
	const struct lz_event *ev = pos->event < lz_reader_n_events(s->rp.reader)
	                                ? lz_reader_event(s->rp.reader, pos->event)
	                                : NULL;

	return ev && lz_event_async(ev) && ev->flags & LZ_EVF_SPIN && ev->marker == pos->marker;
}

/* The checkpoint taken there, mostly in the middle of a gap; -1: none. Of a spin it does not
 * know how often the address was arrived at before. */
static int64_t checkpoint_at(struct lz_session *s, const struct lz_pos *pos)
{
	uint32_t i = lz_reader_checkpoint_before(s->rp.reader, pos->event, pos->marker);
	const struct lz_checkpoint *ck = i < lz_reader_n_checkpoints(s->rp.reader)
	                                     ? lz_reader_checkpoint(s->rp.reader, i)
	                                     : NULL;

	return ck && same_pos(&ck->pos, pos) && !in_spin(s, pos) ? (int64_t)i : -1;
}

/* An engine that stands exactly there. *START: at the start of its gap. */
static struct lz_engine *engine_for(struct lz_session *s, const struct lz_pos *pos, bool *start)
{
	int ret;
	int64_t index = checkpoint_at(s, pos);

	*start = false;
	if (index >= 0)
		return lz_engine_new(&s->rp, (uint32_t)index);
	struct lz_engine *e = lz_session_engine_at(s, pos->event, pos->marker, &ret);

	if (e) {
		uint32_t seen = e->regs.rip == pos->ip;
		*start = seen && pos->n == 1;
		ret = lz_engine_to_arrival(e, pos->ip, pos->n, seen);
		if (!ret)
			return e;
		lz_engine_free(e);
	}
	if (ret == 1)
		not_reached(s, pos);
	if (ret == 2)
		lz_fail("interrupted");
	return NULL;
}

int lz_session_seek(struct lz_session *s, const struct lz_pos *pos)
{
	struct lz_pos p = *pos;
	bool start;

	if (!p.n)
		return not_found(&p);
	bool near = s->e && !s->lost && !s->away && p.event == s->pos.event &&
	            p.marker == s->pos.marker && p.ip == s->pos.ip;
	if (near && lz_session_name(s) < 0)
		return -1;
	if (near && p.n == s->pos.n && p.tid && p.tid != s->pos.tid)
		return other_thread(&p, s->pos.tid);
	if (near && p.n == s->pos.n) {
		s->signal_told = 0;
		return 0;
	}
	if (p.marker < lz_reader_first_marker(s->rp.reader) ||
	    p.event < lz_reader_first_event(s->rp.reader))
		return not_kept(&p);
	if (p.marker > s->rp.stream_len || p.event > lz_reader_n_events(s->rp.reader))
		return not_found(&p);
	struct lz_engine *e = engine_for(s, &p, &start);
	if (!e)
		return -1;
	if (p.tid && p.tid != lz_engine_tid(e)) {
		uint32_t tid = lz_engine_tid(e);
		lz_engine_free(e);
		return other_thread(&p, tid);
	}
	lz_session_replace(s, e);
	lz_session_arrived(s, p.n, start);
	return 0;
}

int lz_session_seek_start(struct lz_session *s)
{
	struct lz_engine *e = lz_engine_new(&s->rp, 0);

	if (!e)
		return -1;
	lz_session_replace(s, e);
	lz_session_arrived(s, 1, true);
	return 0;
}

static int seek_last_gap(struct lz_session *s)
{
	const struct lz_end *end = &s->rp.end;
	int64_t n = 1;
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, end->event, end->marker, &ret);
	if (!e)
		return ret < 0 ? -1 : lz_fail("the end of the recording is not reached");
	bool start = end->kind == LZ_END_CUT || e->regs.rip == end->ip;
	/* up to the fatal signal */
	if (end->kind == LZ_END_SIGNAL &&
	    (n = lz_engine_count_to_event(e, end->ip, LZ_LONG_GAP)) < 0) {
		lz_engine_free(e);
		return -1;
	}
	lz_session_replace(s, e);
	n = n == LZ_MANY ? 0 : n ? n : 1;
	lz_session_arrived(s, (uint32_t)n, start && n == 1);
	return 0;
}

int lz_session_seek_end(struct lz_session *s)
{
	const struct lz_end *end = &s->rp.end;
	struct lz_pos pos = {0, 1, end->event, end->marker, end->ip};
	int ret = end->kind == LZ_END_CALL ? lz_session_seek(s, &pos) : seek_last_gap(s);

	s->at_end = ret == 0;
	return ret;
}

int lz_session_seek_gap(struct lz_session *s, uint64_t event, uint64_t marker)
{
	int ret;
	struct lz_engine *e = lz_session_engine_at(s, event, marker, &ret);

	if (!e) {
		struct lz_pos pos = {0, 1, event, marker, 0};
		return ret == 2 ? lz_fail("interrupted") : ret < 0 ? -1 : not_reached(s, &pos);
	}
	lz_session_replace(s, e);
	lz_session_arrived(s, 1, true);
	return 0;
}

int lz_session_seek_time(struct lz_session *s, uint64_t time)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);

	if (!ck || time <= ck->pos.marker)
		return lz_session_seek_start(s);
	if (time > s->rp.stream_len)
		return lz_session_seek_end(s);
	int64_t at = lz_marker_boundary(s, time);
	if (at >= 0 && (uint64_t)at < time) {
		uint64_t next = lz_engine_next_marker(s->e, (uint64_t)at);
		if (next == UINT64_MAX)
			return lz_session_seek_end(s);
		at = (int64_t)next;
	}
	if (at < 0)
		return -1;
	return lz_session_seek_gap(s, lz_gap_event(s, (uint64_t)at), (uint64_t)at);
}
