/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a watched change, known as the k-th of its gap, to the instruction that makes it: a data
 * breakpoint traps behind it, and which instruction was before an address cannot be read off the
 * code. */
#include "replayer/session/session.h"
#include <lizard/error.h>

enum { FEW_STEPS = 3000, MORE_STEPS = 20000, LONGEST_INSN = 15 };

static int lost(void)
{
	return lz_fail("the watched change is not found again");
}

/* Where the hit's count begins. */
static struct lz_engine *armed_at(struct lz_session *s, const struct lz_hit *hit, int *ret)
{
	struct lz_engine *e = NULL;

	*ret = -1;
	if (hit->from)
		e = lz_engine_fork(hit->from);
	else
		e = lz_session_engine_at(s, hit->pos.event, hit->pos.marker, ret);
	if (*ret == 1)
		*ret = lost();
	if (e && (*ret = lz_watch_arm(s, e)) < 0) {
		lz_engine_free(e);
		return NULL;
	}
	return e;
}

/* Runs E behind change number CHANGES and arrival number ARRIVALS at IP, whichever comes later. */
static int advance(struct lz_session *s, struct lz_engine *e, uint32_t changes, uint64_t ip,
                   int64_t arrivals)
{
	int64_t n = e->regs.rip == ip;
	uint32_t seen = 0;
	struct lz_halt h;

	e->want.ip = ip;
	while (seen < changes || n < arrivals) {
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (!(h.flags & (LZ_HALT_WATCH | LZ_HALT_EXEC)))
			return lost();
		if (h.flags & LZ_HALT_WATCH && lz_watch_check(s, e, &h))
			seen++;
		n += !!(h.flags & LZ_HALT_EXEC);
	}
	e->want.ip = 0;
	return 0;
}

/* Steps E up to the next change; 1: not within LIMIT steps (0 = none). */
static int step_to_change(struct lz_session *s, struct lz_engine *e, size_t limit, uint64_t *before)
{
	for (size_t i = 0; !limit || i < limit; i++) {
		struct lz_halt h;
		*before = e->regs.rip;
		if (lz_engine_resume(e, true, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (h.flags & LZ_HALT_WATCH && lz_watch_check(s, e, &h))
			return 0;
		if (!(h.flags & LZ_HALT_STEP))
			return lost();
	}
	return 1;
}

/* Arrivals at IP before the change. -1 failed, -2 interrupted. */
static int64_t count_to_change(struct lz_session *s, const struct lz_hit *hit, uint64_t ip)
{
	int ret;
	struct lz_engine *e = armed_at(s, hit, &ret);

	if (!e)
		return ret == 2 ? -2 : -1;
	int64_t n = e->regs.rip == ip;
	uint32_t seen = 0;
	e->want.ip = ip;
	for (;;) {
		struct lz_halt h;
		if (lz_engine_resume(e, false, &h) < 0) {
			n = -1;
			break;
		}
		if (h.flags & LZ_HALT_WATCH && lz_watch_check(s, e, &h) && ++seen == hit->pos.n)
			break;
		if (!(h.flags & (LZ_HALT_WATCH | LZ_HALT_EXEC))) {
			n = h.flags & LZ_HALT_INTERRUPT ? -2 : lost();
			break;
		}
		n += !!(h.flags & LZ_HALT_EXEC);
	}
	lz_engine_free(e);
	return n;
}

/* Steps from behind change K - 1 and arrival number ARRIVALS at IP on. */
static int find_from(struct lz_session *s, const struct lz_hit *hit, uint64_t ip, int64_t arrivals,
                     size_t limit, uint64_t *before)
{
	int ret;
	struct lz_engine *e = armed_at(s, hit, &ret);

	if (!e)
		return ret == 2 ? 2 : -1;
	ret = advance(s, e, hit->pos.n - 1, ip, arrivals);
	if (!ret)
		ret = step_to_change(s, e, limit, before);
	lz_engine_free(e);
	return ret;
}

/* Mostly it stands right before the address behind it: each length that it may have is tried. */
static int find_by_length(struct lz_session *s, const struct lz_hit *hit, uint64_t *before)
{
	for (uint64_t len = 1; len <= LONGEST_INSN; len++) {
		uint64_t ip = hit->pos.ip - len;
		int64_t n = count_to_change(s, hit, ip);
		if (n < 0)
			return n == -2 ? 2 : -1;
		if (!n)
			continue;
		int ret = find_from(s, hit, ip, n, 1, before);
		if (ret != 1)
			return ret;
	}
	return 1;
}

static int find(struct lz_session *s, const struct lz_hit *hit, uint64_t *before)
{
	int ret = find_from(s, hit, 0, 0, FEW_STEPS, before);

	if (ret != 1)
		return ret;
	/* in a loop that has been at the address behind it before: from there it is one round */
	int64_t n = count_to_change(s, hit, hit->pos.ip);
	if (n < 0)
		return n == -2 ? 2 : -1;
	if (n && (ret = find_from(s, hit, hit->pos.ip, n, MORE_STEPS, before)) != 1)
		return ret;
	ret = find_by_length(s, hit, before);
	return ret == 1 ? find_from(s, hit, 0, 0, 0, before) : ret;
}

int lz_session_resolve(struct lz_session *s, const struct lz_hit *hit, struct lz_pos *to)
{
	uint64_t before = 0;

	if (hit->kind == LZ_HIT_BREAK) {
		*to = hit->pos;
		return 0;
	}
	if (hit->kind == LZ_HIT_EVENT_WATCH) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, hit->pos.event);
		return ev ? lz_session_before_event(s, ev, to) : -1;
	}
	int ret = find(s, hit, &before);
	if (ret)
		return ret;
	int64_t n = count_to_change(s, hit, before);
	if (n <= 0)
		return n == -2 ? 2 : n < 0 ? -1 : lost();
	*to = hit->pos;
	to->ip = before;
	to->n = (uint32_t)n;
	return 0;
}

int lz_session_to_hit(struct lz_session *s, const struct lz_hit *hit, const struct lz_pos *to)
{
	if (!hit->from)
		return lz_session_seek(s, to);
	struct lz_engine *e = lz_engine_fork(hit->from);
	if (!e)
		return -1;
	int ret = lz_engine_to_arrival(e, to->ip, to->n, e->regs.rip == to->ip);
	if (ret) {
		lz_engine_free(e);
		return ret < 0 ? -1 : ret == 2 ? lz_fail("interrupted") : lost();
	}
	lz_session_replace(s, e);
	return lz_session_arrived_uncounted(s);
}
