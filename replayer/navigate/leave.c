/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Out of a piece of code at full speed, for a debugger that would step through it. */
#include "replayer/navigate/exit_breaks.h"
#include "replayer/session/session.h"

/* A stop of the user's, which a debugger that steps would have come to otherwise, or a way that
 * it would not have taken. */
enum { ELSEWHERE = 1 };

/* A breakpoint there that the piece has not set? */
static bool is_users(const struct lz_session *s, const struct lz_exit_breaks *p, uint64_t addr)
{
	for (size_t i = 0; i < s->n_breaks; i++)
		if (s->breaks[i].addr == addr)
			return s->breaks[i].count > lz_exit_breaks_count(p, addr);
	return false;
}

/* An exit inside is stepped over even if others run before its thread comes to it: a breakpoint
 * where a thread stands does not stop it. */
static int go_on(struct lz_nav *nav, const struct lz_exit_breaks *p, uint32_t tid,
                 struct lz_stop *stop)
{
	struct lz_session *s = nav->s;
	struct user_regs_struct r = {.rip = s->pos.ip};

	if (s->pos.tid != tid && lz_session_thread_regs(s, tid, &r) < 0)
		r.rip = 0; /* it has ended */
	if (lz_exit_breaks_leads_anywhere(p, r.rip))
		return lz_session_step_thread(s, tid, LZ_FORWARD, stop);
	return lz_session_run(s, LZ_FORWARD, stop);
}

/* To the first exit of thread TID's own frame. */
static int run_out(struct lz_nav *nav, const struct lz_exit_breaks *p, uint32_t tid,
                   struct lz_stop *stop)
{
	for (;;) {
		bool inside, users;

		if (go_on(nav, p, tid, stop) < 0)
			return -1;
		inside = nav->s->pos.tid == tid && !lz_exit_breaks_is_deeper(nav, p);
		switch (stop->reason) {
		case LZ_STOP_STEP:
		case LZ_STOP_BREAKPOINT:
			if ((users = is_users(nav->s, p, nav->s->pos.ip)))
				stop->reason = LZ_STOP_BREAKPOINT;
			break;
		case LZ_STOP_WATCH:
		case LZ_STOP_SIGNAL: users = true; break;
		default: return 0;
		}
		if (users)
			return inside ? 0 : ELSEWHERE;
		if (inside && lz_exit_breaks_lands_at(p, nav->s->pos.ip))
			return ELSEWHERE;
		if (inside && !lz_piece_has(p->of, nav->s->pos.ip)) {
			stop->reason = LZ_STOP_STEP;
			return 0;
		}
	}
}

int lz_session_leave(struct lz_session *s, const struct lz_piece_of_code *piece,
                     struct lz_stop *stop)
{
	struct lz_nav *nav = lz_nav_of(s);
	struct lz_engine *copy = NULL;
	struct lz_pos from;
	struct lz_exit_breaks p;
	int rc;

	if (!nav)
		return -1;
	lz_session_known(s, &from);
	if (lz_exit_breaks_is_barred(nav, &from) || !lz_exit_breaks_find(nav, piece, &p))
		return 1;
	if (!from.n && !(copy = lz_engine_fork(s->e)))
		return -1;
	rc = lz_exit_breaks_arm(nav, &p);
	if (!rc)
		rc = run_out(nav, &p, from.tid, stop);
	lz_exit_breaks_disarm(nav, &p);
	if (rc == ELSEWHERE)
		lz_exit_breaks_bar(nav, &from, &s->pos);
	/* An interrupt must not hold it up on the way back; it stops what comes next. */
	if (rc && (copy ? lz_session_to_copy(s, copy) : lz_session_restore(s, &from)) < 0)
		rc = -1;
	lz_engine_free(copy);
	return rc;
}
