/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/past_handlers.h"
#include "replayer/session/session.h"

#include <sys/syscall.h>

enum { FAR = 4096 /* events that are looked at: in code without markers a step is not long */ };

static bool returns(const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SYSCALL && ev->nr == SYS_rt_sigreturn && ev->has_regs;
}

static bool enters(const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SIGNAL && ev->has_regs;
}

/* Back from the goal: the returns of handlers and their signals are nested. The outermost counts. */
bool lz_in_past_handler(struct lz_nav *nav, const struct lz_pos *from, uint64_t *begin)
{
	const uint64_t goal = nav->goal.event;
	const struct lz_event *ev;
	unsigned depth = 0;

	for (uint64_t n = goal; goal - n < FAR && (n > from->event || depth); n--) {
		if (!(ev = lz_session_event_before(nav->s, n)))
			return false;
		if (ev->tid != nav->goal.tid)
			continue;
		if (returns(ev))
			depth++;
		else if (enters(ev) && depth && --depth == 0 && n <= from->event) {
			*begin = ev->marker;
			return true;
		}
	}
	return false;
}
