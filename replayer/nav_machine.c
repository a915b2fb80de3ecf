/* The session as the machine that the stepper moves. */
#include <lizard/error.h>
#include "replayer/nav.h"
#include "replayer/session.h"

static struct lz_pos where(struct lz_nav *nav)
{
	struct lz_pos pos;

	lz_session_where(nav->s, &pos);
	return pos;
}

static bool at_goal(void *arg)
{
	struct lz_nav *nav = arg;
	struct lz_pos now = where(nav);

	return lz_nav_same(&now, &nav->goal);
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
	struct lz_module *mod = lz_modules_at(nav->modules, addr, where(nav).event);

	*bias = mod ? mod->bias : 0;
	return mod ? lz_module_lines(nav->modules, mod) : NULL;
}

static bool in_loader(void *arg, uint64_t addr, uint64_t *start, uint64_t *end)
{
	struct lz_nav *nav = arg;
	struct lz_module *mod = lz_modules_at(nav->modules, addr, where(nav).event);

	if (!mod || !mod->interpreter)
		return false;
	*start = mod->start;
	*end = mod->end;
	return true;
}

/* What the debugger wants to see none of: it steps over their handlers. */
static bool passes_by(struct lz_nav *nav, uint32_t signo)
{
	return signo < 64 && (nav->s->pass_signals >> signo & 1);
}

/* A request that came while nothing ran. */
static bool was_interrupted(struct lz_nav *nav)
{
	nav->interrupted |= nav->s->rp.interrupted != 0;
	return nav->interrupted;
}

/* Runs until at one of PLACES, or the goal, which may be one of them. */
static enum lz_move run(void *arg, const struct lz_place *places, size_t n)
{
	struct lz_nav *nav = arg;
	enum lz_move move = LZ_MOVE_FAILED;
	size_t set = 0;
	struct lz_stop stop;

	for (; set < n; set++)
		if (lz_session_break(nav->s, places[set].pc))
			goto out;
	if (lz_session_break(nav->s, nav->goal.ip))
		goto out;
	for (bool going = true; going;) {
		struct user_regs_struct r;

		if (was_interrupted(nav) || lz_session_run(nav->s, LZ_FORWARD, &stop) ||
		    lz_session_regs(nav->s, &r))
			break;
		for (size_t i = 0; i < n && stop.reason != LZ_STOP_SIGNAL; i++) {
			if (r.rip != places[i].pc || (places[i].sp && r.rsp != places[i].sp))
				continue;
			move = LZ_MOVE_DONE;
			going = false;
		}
		if (!going)
			break;
		switch (stop.reason) {
		case LZ_STOP_BREAKPOINT:
		case LZ_STOP_WATCH:
		case LZ_STOP_SIGNAL: break;
		case LZ_STOP_END:
			move = LZ_MOVE_END;
			going = false;
			break;
		case LZ_STOP_INTERRUPTED: nav->interrupted = true; /* fall through */
		default: going = false;
		}
		if (at_goal(nav)) {
			move = stop.reason == LZ_STOP_END ? LZ_MOVE_END : LZ_MOVE_GOAL;
			going = false;
		}
	}
	lz_session_unbreak(nav->s, nav->goal.ip);
out:
	while (set > 0)
		lz_session_unbreak(nav->s, places[--set].pc);
	return move;
}

/* Stopped before a signal: over its handler, if there is one, else over the instruction. */
static enum lz_move take_signal(struct lz_nav *nav)
{
	const struct lz_event *ev = lz_session_next_event(nav->s);
	struct user_regs_struct r;
	struct lz_place back = {0};
	struct lz_stop stop;
	bool handler;

	if (!ev || ev->kind != LZ_EV_SIGNAL || lz_session_regs(nav->s, &r))
		return LZ_MOVE_FAILED;
	if (!passes_by(nav, ev->signo))
		return LZ_MOVE_SIGNAL;
	handler = ev->has_regs && ev->regs.rip != r.rip;
	back.pc = r.rip;
	back.sp = r.rsp;
	if (lz_session_step(nav->s, LZ_FORWARD, &stop))
		return LZ_MOVE_FAILED;
	if (stop.reason == LZ_STOP_END)
		return LZ_MOVE_END;
	if (!handler)
		return LZ_MOVE_DONE;
	if (at_goal(nav))
		return LZ_MOVE_GOAL;
	return run(nav, &back, 1);
}

static bool within(uint64_t pc, uint64_t start, uint64_t end)
{
	return pc >= start && pc < end;
}

static enum lz_move step_range(void *arg, uint64_t start, uint64_t end)
{
	struct lz_nav *nav = arg;
	/* The goal can only be come across inside the range if its address is there. */
	bool careful = within(nav->goal.ip, start, end);

	for (;;) {
		struct lz_stop stop;

		if (was_interrupted(nav))
			return LZ_MOVE_FAILED;
		int rc = careful ? lz_session_step(nav->s, LZ_FORWARD, &stop)
		                 : lz_session_step_range(nav->s, LZ_FORWARD, start, end, &stop);

		if (rc)
			return LZ_MOVE_FAILED;
		switch (stop.reason) {
		case LZ_STOP_STEP:
		case LZ_STOP_BREAKPOINT:
		case LZ_STOP_WATCH: break;
		case LZ_STOP_SIGNAL: {
			enum lz_move move = take_signal(nav);

			if (move != LZ_MOVE_DONE)
				return move;
			break;
		}
		case LZ_STOP_END: return LZ_MOVE_END;
		case LZ_STOP_INTERRUPTED: nav->interrupted = true; /* fall through */
		default: return LZ_MOVE_FAILED;
		}
		if (!within(where(nav).ip, start, end) || at_goal(nav))
			return LZ_MOVE_DONE;
	}
}

void lz_nav_machine(struct lz_nav *nav)
{
	nav->machine = (struct lz_machine){
	    .arg = nav,
	    .regs = regs,
	    .read = read_memory,
	    .step_range = step_range,
	    .run = run,
	    .at_goal = at_goal,
	    .lines = lines,
	    .in_loader = in_loader,
	};
}
