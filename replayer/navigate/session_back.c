/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bs and prev: from an anchor before the present position GDB's stepping is done forwards again
 * until it comes here; the stop before the last is the answer. Each chain of stops is kept: the
 * next bs finds its answer in it. */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/navigate/stop_chain.h"
#include "replayer/session/session.h"

static int go(struct lz_nav *nav, const struct lz_pos *pos, struct lz_stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	if (lz_session_seek(nav->s, pos))
		return -1;
	stop->reason = LZ_STOP_STEP;
	stop->pos = *pos;
	return 0;
}

/* Nothing of the thread was before. */
static int go_to_start(struct lz_nav *nav, struct lz_stop *stop)
{
	const struct lz_turns *t = nav->threads.turns;
	const struct lz_turn *turn = &t->v[nav->threads.first[nav->thread]];

	memset(stop, 0, sizeof(*stop));
	if (turn == t->v ? lz_session_seek_start(nav->s)
	                 : lz_session_seek_gap(nav->s, turn->event, turn->marker))
		return -1;
	stop->reason = turn == t->v ? LZ_STOP_START : LZ_STOP_THREAD_START;
	lz_session_where(nav->s, &stop->pos);
	return 0;
}

/* An answer that was given before, or one from the chain that was found last. false: there is
 * none. */
static bool is_known(struct lz_nav *nav, bool next, struct lz_pos *answer)
{
	const struct lz_pos *given = lz_results_find(next ? &nav->nexts : &nav->steps, &nav->goal);
	const struct lz_chain_stop *p;

	if (given) {
		*answer = *given;
		return true;
	}
	p = lz_chain_before(next ? &nav->next : &nav->step, &nav->goal, next);
	if (p)
		*answer = p->pos;
	return p;
}

/* The user's breakpoints and watchpoints would only hold it up. Of a signal that is passed by
 * the machine must be told: unseen, it would take a walk into its handler, which GDB steps over. */
static int search(struct lz_nav *nav, bool next, struct lz_pos *answer)
{
	struct lz_session *s = nav->s;
	struct lz_user_break *breaks = s->breaks;
	size_t n_breaks = s->n_breaks, n_watches = s->n_watches;
	int rc;

	s->breaks = NULL;
	s->n_breaks = s->n_watches = 0;
	s->pass_signals = 0;
	s->nested++;
	rc = next ? lz_search_next(nav, answer) : lz_search_step(nav, LZ_SCOPE_ALL, answer);
	s->nested--;
	free(s->breaks);
	s->breaks = breaks;
	s->n_breaks = n_breaks;
	s->n_watches = n_watches;
	s->pass_signals = nav->passed;
	return rc;
}

/* What was found holds for the signals that were passed by then, and for what was skipped. */
static void pass_by(struct lz_nav *nav, uint64_t signals, const struct lz_skips *skips)
{
	nav->machine.skips = skips;
	if (nav->passed == signals && nav->skips == lz_skips_number(skips))
		return;
	nav->passed = signals;
	nav->skips = lz_skips_number(skips);
	nav->step.n = nav->next.n = 0;
	lz_results_free(&nav->steps);
	lz_results_free(&nav->nexts);
}

uint32_t lz_session_skipped_here(struct lz_session *s)
{
	struct lz_nav *nav = s->skips ? lz_nav_of(s) : NULL;

	if (!nav)
		return 0;
	pass_by(nav, s->pass_signals, s->skips);
	return lz_gdb_skipped_here(&nav->machine);
}

static int back(struct lz_session *s, bool next, struct lz_stop *stop)
{
	struct lz_nav *nav = lz_nav_of(s);
	struct lz_pos here, goal, answer;
	int rc;

	if (!nav)
		return -1;
	lz_session_begin(s);
	nav->interrupted = nav->gave_up = false;
	nav->effort = 0;
	pass_by(nav, s->pass_signals, s->skips);
	lz_session_where(s, &here);
	if (lz_nav_aim(nav, &here))
		return -1;
	goal = nav->goal;
	rc = is_known(nav, next, &answer) ? 1 : search(nav, next, &answer);
	if (rc == 1)
		lz_results_keep(next ? &nav->nexts : &nav->steps, &goal, &answer);
	if (rc >= 0)
		rc = rc ? go(nav, &answer, stop) : go_to_start(nav, stop);
	if (!rc)
		return 0;
	nav->interrupted |= s->rp.interrupted;
	s->rp.interrupted = false;
	if (lz_session_restore(s, &here))
		return -1;
	if (nav->gave_up)
		return lz_fail(
		    "no line was found from which %s leads here, after %u stops on the way. "
		    "jump_backward and reverse-%s still go back",
		    next ? "`next`" : "`step`", nav->effort, next ? "next" : "step");
	if (!nav->interrupted)
		return -1;
	*stop = (struct lz_stop){.reason = LZ_STOP_INTERRUPTED, .pos = here};
	return 0;
}

int lz_session_back_step(struct lz_session *s, struct lz_stop *stop)
{
	return back(s, false, stop);
}

int lz_session_back_next(struct lz_session *s, struct lz_stop *stop)
{
	return back(s, true, stop);
}
