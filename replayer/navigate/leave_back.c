/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Back out of a piece of code, for a debugger that would step through it backwards: to the last
 * instant at which control was outside, found by breakpoints at all instructions that lead into
 * it. */
#include <stdlib.h>
#include "replayer/navigate/exit_breaks.h"
#include "replayer/session/session.h"

enum { ELSEWHERE = 1, ENTRY = 2, INTERRUPTED = 3 };

struct way_in {
	struct lz_exit_breaks piece;
	struct lz_entries entries;
	int armed;
	struct lz_pos from;
};

/* In the part of the function that IP is in; *searched: the last one. */
static bool find_in_part(struct lz_nav *nav, const struct lz_piece_of_code *piece, uint64_t ip,
                         uint64_t *searched, struct lz_entries *e)
{
	uint64_t bias;
	struct lz_lines *l = nav->machine.lines(nav->machine.arg, ip, &bias);
	struct lz_range f;
	uint8_t *code;
	bool good;

	if (!l || !lz_lines_function(l, ip - bias, &f))
		return false;
	if (f.start + bias == *searched)
		return true;
	*searched = f.start + bias;
	code = malloc(f.end - f.start);
	good = code &&
	       lz_session_read(nav->s, f.start + bias, code, f.end - f.start) == f.end - f.start &&
	       lz_entries_add(code, f.start + bias, f.end + bias, piece, e);
	free(code);
	return good;
}

static bool find_entries(struct lz_nav *nav, const struct lz_piece_of_code *piece,
                         struct lz_entries *e)
{
	uint64_t searched = 0;

	for (uint32_t i = 0; i < piece->n_ranges; i++)
		if (!find_in_part(nav, piece, piece->range[i].start, &searched, e))
			return false;
	return e->n > 0;
}

static bool is_entry(const struct way_in *w, uint64_t ip)
{
	for (int i = 0; i < w->entries.n; i++)
		if (w->entries.pc[i] == ip)
			return true;
	return false;
}

/* Has the user a breakpoint there, besides the entry's own? */
static bool is_users_too(const struct lz_session *s, uint64_t ip)
{
	for (size_t i = 0; i < s->n_breaks; i++)
		if (s->breaks[i].addr == ip)
			return s->breaks[i].count > 1;
	return false;
}

/* To where control came in, or what may be that. */
static int run_back(struct lz_nav *nav, const struct way_in *w, struct lz_stop *stop)
{
	struct lz_session *s = nav->s;

	for (;;) {
		uint64_t cfa;

		if (lz_session_run(s, LZ_BACKWARD, stop) < 0)
			return -1;
		if (stop->reason == LZ_STOP_INTERRUPTED)
			return 0;
		if (stop->reason != LZ_STOP_BREAKPOINT)
			return ELSEWHERE;
		cfa = lz_gdb_frame(&nav->machine, NULL);
		if (!is_entry(w, s->pos.ip))
			return ELSEWHERE; /* the user's */
		if (s->pos.tid == w->from.tid && cfa == w->piece.cfa)
			return ENTRY;
		if (is_users_too(s, s->pos.ip) ||
		    (s->pos.tid == w->from.tid && !lz_exit_breaks_is_deeper(nav, &w->piece)))
			return ELSEWHERE;
	}
}

/* Forwards from the way in, up to where the piece was left. The breakpoint there is set in the
 * last gap only (*near), as a loop may come by often. 1: that is where it leads. */
static int lead_back(struct lz_nav *nav, const struct way_in *w, bool *near)
{
	struct lz_session *s = nav->s;
	struct lz_stop stop;
	struct lz_pos now;
	int rc = lz_session_step_thread(s, w->from.tid, LZ_FORWARD, &stop);

	while (rc >= 0) {
		bool own = s->pos.tid == w->from.tid;

		if (stop.reason == LZ_STOP_INTERRUPTED)
			return INTERRUPTED;
		if (lz_session_name(s) < 0)
			return -1;
		lz_session_where(s, &now);
		if (lz_pos_same(&now, &w->from))
			return 1;
		if (stop.reason != LZ_STOP_STEP && stop.reason != LZ_STOP_BREAKPOINT &&
		    stop.reason != LZ_STOP_TARGET)
			return 0;
		if (own &&
		    (!lz_piece_has(w->piece.of, now.ip) ||
		     lz_exit_breaks_lands_at(&w->piece, now.ip)) &&
		    !lz_exit_breaks_is_deeper(nav, &w->piece))
			return 0;
		if (!*near && now.marker >= w->from.marker) {
			if (lz_session_break(s, w->from.ip))
				return -1;
			*near = true;
		}
		rc = own && lz_exit_breaks_leads_anywhere(&w->piece, now.ip)
		         ? lz_session_step_thread(s, w->from.tid, LZ_FORWARD, &stop)
		         : lz_session_run(s, LZ_FORWARD, &stop);
	}
	return -1;
}

/* Does control, from here on, get into the piece at once and stay in it up to where it was left? */
static int leads_back(struct lz_nav *nav, const struct way_in *w)
{
	bool near = false;
	int rc;

	nav->s->limit = w->from.marker;
	rc = lead_back(nav, w, &near);
	nav->s->limit = 0;
	if (near)
		lz_session_unbreak(nav->s, w->from.ip);
	return rc;
}

static int arm_entries(struct lz_session *s, struct way_in *w)
{
	while (w->armed < w->entries.n && !lz_session_break(s, w->entries.pc[w->armed]))
		w->armed++;
	return w->armed == w->entries.n ? 0 : -1;
}

static void disarm_entries(struct lz_session *s, struct way_in *w)
{
	while (w->armed > 0)
		lz_session_unbreak(s, w->entries.pc[--w->armed]);
}

static int verify(struct lz_nav *nav, struct way_in *w)
{
	int rc = lz_exit_breaks_arm(nav, &w->piece);

	if (!rc)
		rc = leads_back(nav, w);
	lz_exit_breaks_disarm(nav, &w->piece);
	return rc;
}

int lz_session_leave_back(struct lz_session *s, const struct lz_piece_of_code *piece,
                          struct lz_stop *stop)
{
	struct lz_nav *nav = lz_nav_of(s);
	struct way_in w = {0};
	struct lz_pos entry;
	int rc;

	if (!nav || lz_session_name(s) < 0)
		return -1;
	lz_session_where(s, &w.from);
	if (lz_exit_breaks_is_barred(nav, &w.from) || !lz_exit_breaks_find(nav, piece, &w.piece) ||
	    !find_entries(nav, piece, &w.entries))
		return 1;
	rc = arm_entries(s, &w);
	if (!rc)
		rc = run_back(nav, &w, stop);
	disarm_entries(s, &w);
	if (!rc)
		return 0;
	if (rc > 0 && lz_session_name(s) < 0)
		rc = -1;
	lz_session_where(s, &entry);
	if (rc > 0)
		rc = rc == ENTRY ? verify(nav, &w) : 0;
	if (!rc)
		lz_exit_breaks_bar(nav, &entry, &w.from);
	/* An interrupt must not hold it up on the way back. */
	if (lz_session_restore(s, rc == 1 ? &entry : &w.from) < 0 || rc < 0)
		return -1;
	if (rc == INTERRUPTED) {
		*stop = (struct lz_stop){.reason = LZ_STOP_INTERRUPTED, .pos = w.from};
		return 0;
	}
	*stop = (struct lz_stop){.reason = LZ_STOP_STEP, .pos = entry};
	return !rc;
}
