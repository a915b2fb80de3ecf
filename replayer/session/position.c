/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The present position: the count of arrivals in the gap is known from the steps made in it,
 * from a position within it whose count is known, or found by running the gap once more when it
 * is asked for. */
#include "replayer/program/exits.h"
#include "replayer/session/session.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_GAP = 3000 };

static int push(struct lz_trail *t, uint64_t ip)
{
	if (lz_reserve(t->ips, t->room, t->n + 1) < 0)
		return -1;
	t->ips[t->n++] = ip;
	return 0;
}

static void new_pos(struct lz_session *s, uint32_t n)
{
	s->pos = (struct lz_pos){.tid = lz_engine_tid(s->e),
	                         .n = n,
	                         .event = s->e->event,
	                         .marker = s->e->marker,
	                         .ip = s->e->regs.rip};
	s->moves++;
}

static void drop_place(struct lz_trail *t)
{
	lz_engine_free(t->place);
	t->place = NULL;
}

void lz_session_arrived(struct lz_session *s, uint32_t n, bool start)
{
	struct lz_trail *t = &s->trail;

	new_pos(s, n);
	s->at_end = s->away = s->lost = false;
	s->signal_told = 0;
	t->n = t->n_counts = 0;
	t->too_long = 0;
	t->whole = start;
	t->anchor = s->pos;
	drop_place(t);
	push(t, s->pos.ip);
}

int lz_session_arrived_uncounted(struct lz_session *s)
{
	struct lz_engine *place = lz_engine_fork(s->e);

	if (!place)
		return -1;
	lz_session_arrived(s, 0, false);
	s->trail.place = place;
	return 0;
}

bool lz_session_at_gap(const struct lz_session *s)
{
	return s->trail.whole && s->trail.n == 1;
}

void lz_session_replace(struct lz_session *s, struct lz_engine *e)
{
	if (s->e != e)
		lz_engine_free(s->e);
	s->e = e;
}

/* From the anchor as many steps as the trail is long. */
static int restore_by_trail(struct lz_session *s, const struct lz_pos *pos)
{
	struct lz_engine *e = lz_engine_fork(s->trail.place);
	struct lz_halt h = {.flags = LZ_HALT_STEP};

	if (!e)
		return -1;
	for (size_t i = 1; i < s->trail.n && h.flags & LZ_HALT_STEP; i++)
		if (lz_engine_resume(e, true, &h) < 0)
			h.flags = 0;
	if (!(h.flags & LZ_HALT_STEP)) {
		lz_engine_free(e);
		return lz_fail("the present instant is not found again");
	}
	lz_session_replace(s, e);
	s->pos = *pos;
	s->away = s->lost = false;
	return 0;
}

/* Whatever happens the session has an engine afterwards: at the start if POS cannot be reached. */
static int restore(struct lz_session *s, const struct lz_pos *pos)
{
	struct lz_pos p = *pos;
	char why[512];

	if (!p.n && s->trail.place)
		return restore_by_trail(s, pos);
	if (!p.n) {
		int64_t n = lz_session_count(s, p.ip);
		if (n < 0)
			return -1;
		p.n = (uint32_t)n;
	}
	s->lost = true;
	lz_engine_free(s->e);
	s->e = NULL;
	if (lz_session_seek(s, &p) == 0)
		return 0;
	snprintf(why, sizeof why, "%s", lz_error());
	lz_session_seek_start(s);
	return lz_fail("%s", why);
}

int lz_session_restore(struct lz_session *s, const struct lz_pos *pos)
{
	bool interrupted = s->rp.interrupted;

	lz_session_deafen(s);
	s->rp.interrupted = false;
	int ret = restore(s, pos);
	s->rp.interrupted = interrupted;
	lz_session_hear(s);
	return ret;
}

static uint32_t occurrences(const struct lz_trail *t, uint64_t ip)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->ips[i] == ip;
	return n;
}

/* Is the next step certain to be the one to the anchor, of whose arrivals SEEN are behind? */
static bool just_before(struct lz_engine *e, const struct lz_pos *anchor, uint32_t seen)
{
	uint8_t code[16];

	if (seen + 1 != anchor->n)
		return false;
	size_t n = lz_engine_read(e, e->regs.rip, code, sizeof code);
	return lz_always_leads(code, n, e->regs.rip, anchor->ip);
}

enum { BEFORE = 3 };

/* Steps a fresh engine from the gap's start to the anchor, noting the way. BEFORE: that was
 * asked for, and it stands at the instant before the anchor, of which the trail has noted both. */
static int walk(struct lz_engine *e, const struct lz_pos *anchor, struct lz_trail *to, size_t limit,
                bool before)
{
	uint32_t seen = 0;

	for (;;) {
		struct lz_halt h;
		if (push(to, e->regs.rip) < 0)
			return -1;
		if (e->regs.rip == anchor->ip && ++seen == anchor->n)
			return 0;
		if (before && just_before(e, anchor, seen))
			return push(to, anchor->ip) < 0 ? -1 : BEFORE;
		if (to->n >= limit)
			return 1;
		if (lz_engine_resume(e, true, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (!(h.flags & LZ_HALT_STEP) || e->event != anchor->event ||
		    e->marker != anchor->marker)
			return lz_fail("the gap is left before the present instant");
	}
}

int lz_session_whole_trail(struct lz_session *s, size_t limit, struct lz_engine **before)
{
	struct lz_trail *t = &s->trail, fresh = {0};
	int ret;

	if (before)
		*before = NULL;
	if (t->whole)
		return 0;
	if (t->too_long >= limit || !t->anchor.n)
		return 1;
	struct lz_engine *e = lz_session_engine_at(s, s->pos.event, s->pos.marker, &ret);
	if (!e)
		return ret == 2 ? 2 : ret < 0 ? -1 : lz_fail("the present gap is not found again");
	ret = walk(e, &t->anchor, &fresh, limit, before && t->n == 1);
	if (ret == BEFORE) {
		*before = e;
		ret = 0;
	} else {
		lz_engine_free(e);
	}
	for (size_t i = 1; !ret && i < t->n; i++)
		ret = push(&fresh, t->ips[i]);
	if (ret) {
		if (ret == 1)
			t->too_long = limit;
		free(fresh.ips);
		return ret;
	}
	free(t->ips);
	t->ips = fresh.ips;
	t->n = fresh.n;
	t->room = fresh.room;
	t->whole = true;
	return 0;
}

/* Arrivals at IP from the gap's start up to the anchor, in a gap too long for steps. */
static int64_t count_to_anchor(struct lz_session *s, uint64_t ip)
{
	const struct lz_pos *a = &s->trail.anchor;
	struct lz_halt h;
	uint32_t seen = 0;
	int64_t count = 0;
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, a->event, a->marker, &ret);
	if (!e)
		return ret < 0 ? -1 : lz_fail("the present gap is not found again");
	unsigned here =
	    (e->regs.rip == ip ? LZ_HALT_EXEC : 0) | (e->regs.rip == a->ip ? LZ_HALT_BREAK : 0);
	ret = lz_engine_break(e, &a->ip, 1);
	e->want.ip = ip;
	while (!ret) {
		seen += !!(here & LZ_HALT_BREAK);
		count += !!(here & LZ_HALT_EXEC);
		if (seen == a->n)
			break;
		if (lz_engine_resume(e, false, &h) < 0)
			ret = -1;
		else if (!(h.flags & (LZ_HALT_BREAK | LZ_HALT_EXEC)))
			ret = lz_fail("the present instant is not found again");
		here = h.flags;
	}
	lz_engine_free(e);
	return ret < 0 ? -1 : count;
}

/* Those from the gap's start to its end but for those from the anchor on. */
static int64_t count_to_place(struct lz_session *s, struct lz_engine *start)
{
	uint64_t ip = s->trail.anchor.ip;
	struct lz_engine *e = lz_engine_fork(s->trail.place);
	int64_t behind = e ? lz_engine_count_in_gap(e, ip) : -1;

	lz_engine_free(e);
	int64_t all = behind < 0 ? -1 : lz_engine_count_in_gap(start, ip);
	return all < 0 ? -1 : all - behind + 1;
}

static int count_anchor(struct lz_session *s)
{
	struct lz_pos *a = &s->trail.anchor;
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, a->event, a->marker, &ret);
	if (!e)
		return ret < 0 ? -1 : lz_fail("the present gap is not found again");
	int64_t n =
	    s->trail.place ? count_to_place(s, e) : lz_engine_count_to_event(e, a->ip, LZ_MANY);
	lz_engine_free(e);
	if (n > 0) {
		a->n = (uint32_t)n;
		drop_place(&s->trail);
	}
	return n > 0 ? 0 : n < 0 ? -1 : lz_fail("the present instant is not found again");
}

int lz_session_arrived_at_event(struct lz_session *s)
{
	int ret;

	struct lz_engine *e = lz_session_engine_at(s, s->e->event, s->e->marker, &ret);
	if (!e)
		return ret < 0 ? -1 : lz_fail("the present instant is not found again");
	int64_t n = lz_engine_count_to_event(e, s->e->regs.rip, LZ_LONG_GAP);
	lz_engine_free(e);
	if (n > 0)
		lz_session_arrived(s, n == LZ_MANY ? 0 : (uint32_t)n, false);
	return n > 0 ? 0 : n < 0 ? -1 : lz_fail("the present instant is lost");
}

bool lz_session_uncounted(const struct lz_session *s)
{
	return !s->trail.anchor.n && !s->trail.place && s->trail.n == 1;
}

void lz_session_known(struct lz_session *s, struct lz_pos *pos)
{
	if (s->trail.anchor.n)
		lz_session_where(s, pos);
	else
		lz_session_present(s, pos);
}

int lz_session_to_copy(struct lz_session *s, struct lz_engine *copy)
{
	struct lz_engine *e = lz_engine_fork(copy);

	if (!e)
		return -1;
	lz_session_replace(s, e);
	return lz_session_arrived_uncounted(s);
}

static int64_t before_anchor(struct lz_session *s, uint64_t ip)
{
	struct lz_trail *t = &s->trail;

	if (!t->anchor.n && count_anchor(s) < 0)
		return -1;
	if (ip == t->anchor.ip)
		return t->anchor.n - 1;
	for (unsigned i = 0; i < t->n_counts; i++)
		if (t->counts[i].ip == ip)
			return t->counts[i].n;
	int64_t n = count_to_anchor(s, ip);
	if (n < 0)
		return -1;
	if (t->n_counts < LZ_TRAIL_COUNTS)
		t->counts[t->n_counts++] = (struct lz_trail_count){ip, n};
	return n;
}

int64_t lz_session_count(struct lz_session *s, uint64_t ip)
{
	int ret = lz_session_whole_trail(s, SHORT_GAP, NULL);

	if (ret < 0 || ret == 2)
		return -1;
	uint32_t n = occurrences(&s->trail, ip);
	if (!ret)
		return n;
	int64_t before = before_anchor(s, ip);
	return before < 0 ? -1 : before + n;
}

int lz_session_stepped(struct lz_session *s)
{
	struct lz_engine *e = s->e;

	if (e->event != s->pos.event || e->marker != s->pos.marker) {
		lz_session_arrived(s, 1, true);
		return 0;
	}
	if (push(&s->trail, e->regs.rip) < 0)
		return -1;
	new_pos(s, s->trail.whole ? occurrences(&s->trail, e->regs.rip) : 0);
	return 0;
}

int lz_session_name(struct lz_session *s)
{
	bool shown = s->rp.tick;

	if (s->pos.n)
		return 0;
	if (!shown)
		lz_session_progress(s, "counting arrivals");
	int64_t n = lz_session_count(s, s->pos.ip);
	if (!shown)
		lz_session_progress(s, NULL);
	if (n < 0)
		return -1;
	s->pos.n = (uint32_t)n;
	return 0;
}
