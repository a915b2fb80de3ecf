/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The session as the machine that the stepper moves. */
#include <stdlib.h>
#include <lizard/error.h>
#include "replayer/navigate/nav.h"
#include "replayer/navigate/range.h"
#include "replayer/navigate/exit_breaks.h"
#include "replayer/navigate/long_jumps.h"
#include "replayer/session/session.h"

static struct lz_pos where(struct lz_nav *nav)
{
	struct lz_pos pos;

	lz_session_where(nav->s, &pos);
	return pos;
}

static bool at_goal(void *arg)
{
	struct lz_nav *nav = arg;
	struct lz_pos now;

	if (nav->s->pos.ip != nav->goal.ip)
		return false; /* before where() counts arrivals */
	now = where(nav);
	return lz_pos_same(&now, &nav->goal);
}

static int regs(void *arg, struct user_regs_struct *r)
{
	struct lz_nav *nav = arg;

	return lz_session_regs(nav->s, r);
}

static size_t read_memory(void *arg, uint64_t addr, void *buf, size_t len)
{
	struct lz_nav *nav = arg;

	return lz_session_read(nav->s, addr, buf, len);
}

static struct lz_lines *lines(void *arg, uint64_t addr, uint64_t *bias)
{
	struct lz_nav *nav = arg;
	struct lz_module *mod = lz_modules_at(nav->modules, addr, nav->s->pos.event);

	*bias = mod ? mod->bias : 0;
	return mod ? lz_module_lines(nav->modules, mod) : NULL;
}

static bool in_loader(void *arg, uint64_t addr, uint64_t *start, uint64_t *end)
{
	struct lz_nav *nav = arg;
	struct lz_module *mod = lz_modules_at(nav->modules, addr, nav->s->pos.event);

	if (!mod || !mod->interpreter)
		return false;
	*start = mod->start;
	*end = mod->end;
	return true;
}

/* What the debugger wants to see none of: it steps over their handlers. */
static bool passes_by(struct lz_nav *nav, uint32_t signo)
{
	return signo < 64 && (nav->passed >> signo & 1);
}

/* Stops of a search, 20 us each and more: where no walk comes to the goal it would go on for
 * hours. */
enum { EFFORT_MAX = 1 << 20 };

/* By a request that came while nothing ran, or because the search has taken too long. */
static bool must_end(struct lz_nav *nav)
{
	nav->interrupted |= nav->s->rp.interrupted;
	nav->gave_up |= ++nav->effort > EFFORT_MAX;
	return nav->interrupted || nav->gave_up;
}

/* What is looked for is in the goal's thread; others run on meanwhile, whatever they meet. */
static bool elsewhere(struct lz_nav *nav, const struct lz_stop *stop)
{
	return nav->s->pos.tid != nav->goal.tid && stop->reason != LZ_STOP_END &&
	       stop->reason != LZ_STOP_INTERRUPTED && stop->reason != LZ_STOP_DIVERGED &&
	       stop->reason != LZ_STOP_THREAD_END;
}

static bool is_at(const struct user_regs_struct *r, const struct lz_place *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (r->rip == places[i].pc && (!places[i].sp || r->rsp == places[i].sp))
			return true;
	return false;
}

enum { GOES_ON = -3, NO_JUMP = -4 }; /* beside enum lz_move */

/* What a stop of the goal's thread, at none of the places that it runs to, means for the run. */
static int judge(struct lz_nav *nav, const struct lz_stop *stop)
{
	int move = LZ_MOVE_FAILED;

	switch (stop->reason) {
	case LZ_STOP_BREAKPOINT:
	case LZ_STOP_WATCH:
	case LZ_STOP_SIGNAL: move = GOES_ON; break;
	case LZ_STOP_END: return LZ_MOVE_END;
	case LZ_STOP_INTERRUPTED: nav->interrupted = true; break;
	default: break;
	}
	return at_goal(nav) ? LZ_MOVE_GOAL : move;
}

static int take_long_jump(struct lz_nav *nav, const struct lz_long_jumps *jumps);

/* Breakpoints are set at all of them. */
static enum lz_move run_to(struct lz_nav *nav, const struct lz_place *places, size_t n,
                           const struct lz_long_jumps *jumps)
{
	for (;;) {
		struct user_regs_struct r;
		struct lz_stop stop;
		int move;

		if (must_end(nav) || lz_session_run(nav->s, LZ_FORWARD, &stop) ||
		    lz_session_regs(nav->s, &r))
			return LZ_MOVE_FAILED;
		if (elsewhere(nav, &stop))
			continue;
		if (stop.reason != LZ_STOP_SIGNAL && is_at(&r, places, n))
			return LZ_MOVE_DONE;
		move = take_long_jump(nav, jumps);
		if (move == NO_JUMP)
			move = judge(nav, &stop);
		if (move != GOES_ON)
			return (enum lz_move)move;
	}
}

/* Where control is about to make a longjmp: to where that leads. GOES_ON: into a call made by the
 * frame in which the step began. */
static int take_long_jump(struct lz_nav *nav, const struct lz_long_jumps *jumps)
{
	static const struct lz_long_jumps none;
	struct lz_place to = {0};
	uint64_t limit = nav->s->limit;
	enum lz_move move = LZ_MOVE_FAILED;

	if (!lz_long_jumps_here(nav, jumps, &to.pc))
		return NO_JUMP;
	if (at_goal(nav))
		return LZ_MOVE_GOAL;
	nav->s->limit = 0;
	if (!lz_session_break(nav->s, to.pc)) {
		move = run_to(nav, &to, 1, &none);
		lz_session_unbreak(nav->s, to.pc);
	}
	nav->s->limit = limit;
	if (move != LZ_MOVE_DONE)
		return move;
	return lz_gdb_is_within(&nav->machine, nav->machine.began) ? GOES_ON : LZ_MOVE_JUMPED;
}

/* Runs until at one of PLACES, or the goal, which may be one of them. */
static enum lz_move run(void *arg, const struct lz_place *places, size_t n)
{
	struct lz_nav *nav = arg;
	enum lz_move move = LZ_MOVE_FAILED;
	struct lz_long_jumps jumps;
	size_t set = 0;

	/* Of what is run over, the first instruction: where control already is no breakpoint
	 * stops it. */
	if (at_goal(nav))
		return LZ_MOVE_GOAL;
	while (set < n && !lz_session_break(nav->s, places[set].pc))
		set++;
	if (set == n && !lz_session_break(nav->s, nav->goal.ip)) {
		if (!lz_long_jumps_arm(nav, &jumps))
			move = run_to(nav, places, n, &jumps);
		lz_long_jumps_disarm(nav, &jumps);
		lz_session_unbreak(nav->s, nav->goal.ip);
	}
	while (set > 0)
		lz_session_unbreak(nav->s, places[--set].pc);
	return move;
}

/* One instruction of the goal's thread. */
static int step_own(struct lz_nav *nav, struct lz_stop *stop)
{
	do {
		if (lz_session_step_thread(nav->s, nav->goal.tid, LZ_FORWARD, stop))
			return -1;
	} while (elsewhere(nav, stop) && !must_end(nav));
	return 0;
}

/* Stopped before a signal: over its handler, if there is one, else over the instruction. */
static enum lz_move take_signal(struct lz_nav *nav)
{
	const struct lz_event *ev = lz_session_next_event(nav->s);
	struct user_regs_struct r;
	struct lz_place back = {0};
	enum lz_move move;
	struct lz_stop stop;
	struct lz_pos inside;
	bool handler;

	if (!ev || ev->kind != LZ_EV_SIGNAL || lz_session_regs(nav->s, &r))
		return LZ_MOVE_FAILED;
	if (!passes_by(nav, ev->signo))
		return LZ_MOVE_SIGNAL;
	handler = ev->has_regs && ev->regs.rip != r.rip;
	back.pc = r.rip;
	back.sp = r.rsp;
	if (step_own(nav, &stop))
		return LZ_MOVE_FAILED;
	if (stop.reason == LZ_STOP_END || stop.reason == LZ_STOP_THREAD_END)
		return LZ_MOVE_END;
	if (!handler)
		return LZ_MOVE_DONE;
	if (at_goal(nav))
		return LZ_MOVE_GOAL;
	inside = where(nav);
	move = run(nav, &back, 1);
	if (move == LZ_MOVE_DONE && at_goal(nav))
		nav->handler = inside;
	return move;
}

/* Until the goal's thread stops, or at the limit. */
static int run_own(struct lz_nav *nav, struct lz_stop *stop)
{
	do {
		if (lz_session_run(nav->s, LZ_FORWARD, stop))
			return -1;
	} while (elsewhere(nav, stop) && stop->reason != LZ_STOP_TARGET && !must_end(nav));
	return 0;
}

static bool within(uint64_t pc, uint64_t start, uint64_t end)
{
	return pc >= start && pc < end;
}

enum { WORTH_RUNNING = 64 }; /* steps; eight times as many after a run in vain */

/* Through a loop in a range that the goal may be in, but not past the gap it is in. 1: steps
 * must do. */
static int run_to_goal(struct lz_nav *nav, uint64_t start, uint64_t end, struct lz_stop *stop)
{
	const struct lz_pos *goal = &nav->goal;
	struct lz_pos now = where(nav);
	int rc;

	if (now.tid != goal->tid || now.marker >= goal->marker)
		return 1;
	nav->s->limit = goal->marker;
	rc = lz_session_run_range(nav->s, start, end, stop);
	nav->s->limit = 0;
	if (rc || stop->reason == LZ_STOP_TARGET || stop->reason == LZ_STOP_INTERRUPTED ||
	    stop->reason == LZ_STOP_DIVERGED)
		return rc;
	/* Left no earlier than in the goal's gap: at its start control was still in the range. */
	if (lz_gap_cmp(goal->event, goal->marker, stop->pos.event, stop->pos.marker) <= 0) {
		rc = lz_session_seek_gap(nav->s, goal->event, goal->marker);
		stop->reason = LZ_STOP_STEP;
	}
	return rc;
}

static enum lz_move step_range(void *arg, uint64_t start, uint64_t end)
{
	struct lz_nav *nav = arg;
	/* The goal can only be come across inside the range if its address is there. */
	bool careful = within(nav->goal.ip, start, end);
	uint64_t run_after = WORTH_RUNNING;
	struct lz_long_jumps jumps;

	lz_long_jumps_find(nav, &jumps);
	careful |= lz_long_jumps_within(&jumps, start, end);
	for (uint64_t steps = 0;; steps++) {
		struct lz_stop stop;
		int rc = 1, jump;

		if (must_end(nav))
			return LZ_MOVE_FAILED;
		if (steps == run_after) {
			run_after *= 8;
			rc = run_to_goal(nav, start, end, &stop);
		}
		if (rc > 0)
			rc = careful ? step_own(nav, &stop)
			             : lz_session_step_range(nav->s, LZ_FORWARD, start, end, &stop);

		if (!rc && elsewhere(nav, &stop))
			rc = step_own(nav, &stop);
		if (rc)
			return LZ_MOVE_FAILED;
		switch (stop.reason) {
		case LZ_STOP_STEP:
		case LZ_STOP_TARGET:
		case LZ_STOP_BREAKPOINT:
		case LZ_STOP_WATCH: break;
		case LZ_STOP_SIGNAL: {
			enum lz_move move = take_signal(nav);

			if (move != LZ_MOVE_DONE)
				return move;
			break;
		}
		case LZ_STOP_THREAD_END:
		case LZ_STOP_END: return LZ_MOVE_END;
		case LZ_STOP_INTERRUPTED: nav->interrupted = true; /* fall through */
		default: return LZ_MOVE_FAILED;
		}
		if (at_goal(nav))
			return LZ_MOVE_DONE;
		jump = take_long_jump(nav, &jumps);
		if (jump != NO_JUMP && jump != GOES_ON)
			return (enum lz_move)jump;
		if (!within(nav->s->pos.ip, start, end))
			return LZ_MOVE_DONE;
	}
}

/* ---- through a long piece of code ---- */

enum { AT_LIMIT = -1, LANDED = -2 }; /* beside enum lz_move, as GOES_ON */

/* To the next exit, or the goal, in whatever frame. */
static int run_to_exit(struct lz_nav *nav, const struct lz_exit_breaks *p)
{
	struct lz_stop stop;
	int rc;

	if (must_end(nav))
		return LZ_MOVE_FAILED;
	if (lz_exit_breaks_leads_anywhere(p, nav->s->pos.ip))
		rc = step_own(nav, &stop);
	else
		rc = run_own(nav, &stop);
	if (rc)
		return LZ_MOVE_FAILED;
	switch (stop.reason) {
	case LZ_STOP_TARGET: return AT_LIMIT;
	case LZ_STOP_STEP:
	case LZ_STOP_BREAKPOINT:
	case LZ_STOP_WATCH: return LZ_MOVE_DONE;
	case LZ_STOP_SIGNAL:
		nav->s->limit = 0; /* a handler runs to its end or to the goal */
		return lz_exit_breaks_is_deeper(nav, p) ? LZ_MOVE_DONE : take_signal(nav);
	case LZ_STOP_THREAD_END:
	case LZ_STOP_END: return LZ_MOVE_END;
	case LZ_STOP_INTERRUPTED: nav->interrupted = true; /* fall through */
	default: return LZ_MOVE_FAILED;
	}
}

/* From the goal's marker on it is looked for; a loop may come by its address often before. */
static int look_for_goal(struct lz_nav *nav, bool *near)
{
	nav->s->limit = nav->goal.marker;
	if (*near || nav->s->pos.marker < nav->goal.marker)
		return 0;
	nav->s->limit = 0;
	if (lz_session_break(nav->s, nav->goal.ip))
		return -1;
	*near = true;
	return 0;
}

/* Other than by a step that left the piece, control comes to another frame by calls, or by a
 * longjmp out of one, which `next` would run over. */
static bool is_foreign(struct lz_nav *nav, const struct lz_exit_breaks *p, bool stepped)
{
	return stepped ? lz_exit_breaks_is_deeper(nav, p)
	               : lz_gdb_frame(&nav->machine, NULL) != p->cfa;
}

static int leave(struct lz_nav *nav, const struct lz_exit_breaks *p,
                 const struct lz_long_jumps *jumps, bool *near)
{
	while (!look_for_goal(nav, near)) {
		bool stepped = lz_exit_breaks_leads_anywhere(p, nav->s->pos.ip);
		int move = run_to_exit(nav, p), jump = NO_JUMP;
		uint64_t ip;

		if (move == LZ_MOVE_DONE)
			jump = take_long_jump(nav, jumps);
		if (jump != NO_JUMP && jump != GOES_ON)
			return jump;
		if (move != LZ_MOVE_DONE && move != AT_LIMIT)
			return move;
		ip = nav->s->pos.ip;
		if (ip == nav->goal.ip && at_goal(nav))
			return is_foreign(nav, p, stepped) ? LZ_MOVE_GOAL : LZ_MOVE_DONE;
		if (nav->s->pos.tid == nav->goal.tid && lz_exit_breaks_lands_at(p, ip) &&
		    !is_foreign(nav, p, stepped))
			return LANDED;
		/* At the limit control may be anywhere, where frames are not known, too. */
		if (move == AT_LIMIT && !lz_exit_breaks_is_exit(p, ip))
			continue;
		if (nav->s->pos.tid == nav->goal.tid && !lz_piece_has(p->of, ip) &&
		    !is_foreign(nav, p, stepped))
			return LZ_MOVE_DONE;
	}
	return LZ_MOVE_FAILED;
}

static enum lz_move run_out(void *arg, const struct lz_piece_of_code *of)
{
	struct lz_nav *nav = arg;
	struct lz_pos from = nav->s->pos;
	struct lz_long_jumps jumps = {.n = 0};
	struct lz_exit_breaks p;
	int move = LZ_MOVE_FAILED;
	bool near = false;

	if (lz_exit_breaks_is_barred(nav, &from) || !lz_exit_breaks_find(nav, of, &p))
		return step_range(arg, of->range[0].start + of->hidden_starts, of->range[0].end);
	if (p.n_landings)
		from = where(nav); /* which counts arrivals */
	if (!lz_exit_breaks_arm(nav, &p) && !lz_long_jumps_arm(nav, &jumps))
		move = leave(nav, &p, &jumps, &near);
	if (near)
		lz_session_unbreak(nav->s, nav->goal.ip);
	nav->s->limit = 0;
	lz_long_jumps_disarm(nav, &jumps);
	lz_exit_breaks_disarm(nav, &p);
	if (move != LANDED)
		return (enum lz_move)move;
	lz_exit_breaks_bar(nav, &from, &nav->s->pos);
	if (lz_session_seek(nav->s, &from))
		return LZ_MOVE_FAILED;
	return step_range(arg, of->range[0].start + of->hidden_starts, of->range[0].end);
}

void lz_nav_machine(struct lz_nav *nav)
{
	nav->machine = (struct lz_machine){
	    .arg = nav,
	    .regs = regs,
	    .read = read_memory,
	    .step_range = step_range,
	    .run_out = run_out,
	    .run = run,
	    .at_goal = at_goal,
	    .lines = lines,
	    .in_loader = in_loader,
	};
}
