/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Through a range of code in one request: by steps, and at full speed where it is a loop. */
#include "replayer/navigate/range.h"
#include "replayer/navigate/nav.h"
#include "replayer/session/session.h"
#include <stdlib.h>

static bool has_break(const struct lz_session *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_breaks; i++)
		if (s->breaks[i].addr == addr)
			return true;
	return false;
}

/* Only there it is certain that an instruction begins. */
static bool begins_row(struct lz_session *s, uint64_t addr)
{
	struct lz_nav *nav = lz_nav_of(s);
	uint64_t bias;
	struct lz_lines *l = nav ? nav->machine.lines(nav->machine.arg, addr, &bias) : NULL;

	return l && lz_lines_find(l, addr - bias).pc == addr - bias;
}

/* ---- forward ---- */

int lz_session_run_range(struct lz_session *s, uint64_t start, uint64_t end, struct lz_stop *stop)
{
	struct lz_piece_of_code range = {
	    .range = {{start, end}}, .n_ranges = 1, .lines = true, .without_calls = true};
	uint64_t passed = s->pass_signals;
	int rc;

	if (!begins_row(s, start))
		return 1;
	s->pass_signals = 0;
	s->nested++;
	rc = lz_session_leave(s, &range, stop);
	s->nested--;
	s->pass_signals = passed;
	if (!rc && stop->reason == LZ_STOP_SIGNAL && stop->signo < 64 && passed >> stop->signo & 1)
		return 1;
	return rc;
}

enum { WORTH_RUNNING = 64 }; /* steps; eight times as many after a run in vain */

static int step_forward(struct lz_session *s, uint64_t start, uint64_t end, struct lz_stop *stop)
{
	uint32_t tid = s->pos.tid;
	uint64_t run_after = WORTH_RUNNING;

	for (uint64_t steps = 1;; steps++) {
		int ret = lz_session_step_forward(s, tid, stop);

		if (ret < 0 || stop->reason != LZ_STOP_STEP)
			return ret;
		if (s->pos.ip < start || s->pos.ip >= end)
			return 0;
		if (has_break(s, s->pos.ip)) {
			stop->reason = LZ_STOP_BREAKPOINT;
			return 0;
		}
		if (steps == run_after) {
			ret = lz_session_run_range(s, start, end, stop);
			if (ret <= 0)
				return ret;
			run_after *= 8;
		}
	}
}

/* ---- backward ---- */

struct range {
	uint64_t start, end;
};

/* Control has just come back into a callee: which line that is of is not for the range to say. */
static bool is_return(struct lz_session *s, uint64_t ip)
{
	uint8_t b[2] = {0};

	if (lz_engine_read(s->e, ip, b, 2) == 0)
		return false;
	return b[0] == 0xc3 || b[0] == 0xc2 || (b[0] == 0xf3 && b[1] == 0xc3);
}

/* Must a step backwards through the range stop at IP? At its first instruction, too: a line
 * begins there. */
static bool ends_range(struct lz_session *s, const struct range *r, uint64_t ip)
{
	return ip <= r->start || ip >= r->end || is_return(s, ip) || has_break(s, ip);
}

/* To instant I of the present gap, whose trail is whole. */
static int back_on_trail(struct lz_session *s, size_t i)
{
	struct lz_trail kept, *t = &s->trail;
	struct lz_pos to = s->pos;

	to.ip = t->ips[i];
	to.n = 0;
	for (size_t k = 0; k <= i; k++)
		to.n += t->ips[k] == to.ip;
	kept = *t;
	kept.n = i + 1;
	*t = (struct lz_trail){0};
	int ret = lz_session_seek(s, &to);

	free(t->ips);
	*t = kept;
	return ret;
}

/* To the last instant before now, in the present gap, that ends the range; if there is none, to
 * the gap's start. 0: at the end of the range; 1: not yet; 2: interrupted. */
static int range_in_gap(struct lz_session *s, const struct range *r)
{
	int ret = lz_session_whole_trail(s, LZ_LONG_GAP, NULL);
	size_t i = s->trail.n - 1;

	if (ret || !i)
		return ret ? ret : 1;
	do {
		i--;
		ret = ends_range(s, r, s->trail.ips[i]) ? 0 : 1;
	} while (ret && i);
	return back_on_trail(s, i) < 0 ? -1 : ret;
}

enum { WORTH_RUNNING_BACK = 16 }; /* gaps; eight times as many after a run in vain */

/* Back through a loop in the range at full speed. 1: steps must do. */
static int run_range_back(struct lz_session *s, const struct range *r, struct lz_stop *stop)
{
	struct lz_piece_of_code range = {.range = {{r->start, r->end}},
	                                 .n_ranges = 1,
	                                 .hidden_starts = true,
	                                 .lines = true,
	                                 .without_calls = true};
	int ret;

	if (!begins_row(s, r->start))
		return 1;
	s->nested++;
	ret = lz_session_leave_back(s, &range, stop);
	s->nested--;
	return ret;
}

static int step_back(struct lz_session *s, uint64_t start, uint64_t end, struct lz_stop *stop)
{
	struct range r = {start, end};
	uint64_t run_after = WORTH_RUNNING_BACK;

	for (uint64_t gaps = 1;; gaps++) {
		int ret = lz_session_name(s) < 0 ? -1 : range_in_gap(s, &r);

		if (ret < 0)
			return -1;
		if (ret == 2 || s->rp.interrupted)
			return lz_session_stop_interrupted(s, stop);
		if (ret == 0) {
			if (lz_session_to_turn_before(s) < 0)
				return -1;
			lz_session_fill(s, stop, LZ_STOP_STEP);
			return 0;
		}
		if (lz_session_step_back(s, s->pos.tid, stop) < 0)
			return -1;
		if (stop->reason != LZ_STOP_STEP || ends_range(s, &r, s->pos.ip))
			return 0;
		if (gaps == run_after) {
			ret = run_range_back(s, &r, stop);
			if (ret <= 0)
				return ret;
			run_after *= 8;
		}
	}
}

int lz_session_step_range(struct lz_session *s, enum lz_direction d, uint64_t start, uint64_t end,
                          struct lz_stop *stop)
{
	if (lz_session_begin_move(s) < 0)
		return -1;
	return d == LZ_BACKWARD ? step_back(s, start, end, stop)
	                        : step_forward(s, start, end, stop);
}
