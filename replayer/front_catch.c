/* `catch syscall`: the event log says which call comes next and where; a breakpoint of our own there. */
#include "replayer/front_int.h"

#include <string.h>

enum { SYSCALL_INSN = 2 }; /* its length; an event's ip is behind it */

void lz_front_catch_none(struct lz_front *f)
{
	f->catching = false;
	f->n_caught = 0;
}

void lz_front_catch(struct lz_front *f, const uint32_t *nrs, size_t n)
{
	f->catching = true;
	f->n_caught = n < LZ_FRONT_CAUGHT_MAX ? (uint32_t)n : LZ_FRONT_CAUGHT_MAX;
	if (n)
		memcpy(f->caught, nrs, f->n_caught * sizeof *nrs);
}

static bool wanted(const struct lz_front *f, const struct lz_event *ev)
{
	if (!ev || ev->kind != LZ_EV_SYSCALL)
		return false;
	for (uint32_t i = 0; i < f->n_caught; i++)
		if (f->caught[i] == ev->nr)
			return true;
	return f->n_caught == 0;
}

/* The next stop in direction D from now: 'e' before a call, 'r' behind it, 0 if there is none. */
static char next_stop(struct lz_front *f, enum lz_direction d, struct lz_pos *at, uint64_t *nr)
{
	uint64_t n = lz_reader_n_events(f->reader);
	struct lz_pos now;

	lz_session_where(f->s, &now);
	const struct lz_event *ev = now.event < n ? lz_reader_event(f->reader, now.event) : NULL;

	at->event = now.event;
	if (d == LZ_FORWARD && wanted(f, ev) && now.ip == ev->ip - SYSCALL_INSN) {
		at->event++; /* stands before it: the stop behind it comes next */
		at->ip = ev->has_regs ? ev->regs.rip : ev->ip;
		*nr = ev->nr;
		return 'r';
	}
	for (;;) {
		if (d == LZ_BACKWARD && at->event-- == 0)
			return 0;
		if (d == LZ_FORWARD && at->event >= n)
			return 0;
		ev = lz_reader_event(f->reader, at->event);
		if (wanted(f, ev))
			break;
		if (d == LZ_FORWARD)
			at->event++;
	}
	at->ip = ev->ip - SYSCALL_INSN;
	*nr = ev->nr;
	return 'e';
}

int lz_front_run_catching(struct lz_front *f, enum lz_direction d)
{
	struct lz_pos at, now;
	uint64_t nr;

	for (;;) {
		char what = next_stop(f, d, &at, &nr);

		if (what && lz_session_break(f->s, at.ip) < 0)
			return -1;
		int rc = lz_session_run(f->s, d, &f->stop);

		if (what)
			lz_session_unbreak(f->s, at.ip);
		if (rc < 0 || !what || f->stop.reason != LZ_STOP_BREAKPOINT)
			return rc;
		lz_session_where(f->s, &now);
		if (now.ip == at.ip && now.event == at.event) {
			f->syscall_nr = nr;
			f->syscall_stop = what;
			return 0;
		}
		if (lz_front_break_at(f, now.ip))
			return 0;
	}
}
