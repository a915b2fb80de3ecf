/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `catch syscall`: the event log says which call comes next and where; a breakpoint of our own
 * there. */
#include "replayer/front/inside.h"

#include <string.h>

enum { SYSCALL_INSN = 2 }; /* its length; an event's ip is behind it */

void lz_front_catch_none(struct lz_front *f)
{
	f->catch.on = false;
	f->catch.n = 0;
}

void lz_front_catch(struct lz_front *f, const uint32_t *nrs, size_t n)
{
	f->catch.on = true;
	f->catch.n = n < LZ_FRONT_CAUGHT_MAX ? (uint32_t)n : LZ_FRONT_CAUGHT_MAX;
	if (n)
		memcpy(f->catch.calls, nrs, f->catch.n * sizeof *nrs);
}

/* A call begins with EV: one that lets other threads run before it returns begins with the
 * switch. */
static bool enters(struct lz_front *f, const struct lz_event *ev)
{
	uint32_t tid = ev->tid;
	uint64_t ip = ev->ip, index = ev->index;

	if (ev->kind == LZ_EV_SWITCH)
		return ev->flags & LZ_EVF_IN_CALL;
	ev =
	    index > lz_reader_first_event(f->reader) ? lz_reader_event(f->reader, index - 1) : NULL;
	return !ev || ev->kind != LZ_EV_SWITCH || ev->next != tid || ev->regs.rip != ip;
}

static bool is_wanted(const struct lz_front *f, const struct lz_event *ev)
{
	for (uint32_t i = 0; i < f->catch.n; i++)
		if (f->catch.calls[i] == ev->nr)
			return true;
	return f->catch.n == 0;
}

/* The instant behind the call that EV is. */
static struct lz_pos behind(const struct lz_event *ev)
{
	return (struct lz_pos){.n = 1,
	                       .event = ev->index + 1,
	                       .marker = ev->marker,
	                       .ip = ev->has_regs ? ev->regs.rip : ev->ip};
}

/* What event INDEX is to a catchpoint: 'e' a call begins, 'r' one returns that began before
 * other threads ran, 0 nothing. AT is the instant. */
static char look(struct lz_front *f, uint64_t index, struct lz_pos *at, uint64_t *nr)
{
	const struct lz_event *ev = lz_reader_event(f->reader, index);
	struct lz_pos to;

	if (!ev || (ev->kind != LZ_EV_SYSCALL && ev->kind != LZ_EV_SWITCH) || !is_wanted(f, ev))
		return 0;
	*nr = ev->nr;
	to = behind(ev);
	at->event = index;
	at->ip = ev->ip - SYSCALL_INSN;
	bool call = ev->kind == LZ_EV_SYSCALL;

	if (enters(f, ev))
		return 'e';
	if (!call)
		return 0;
	*at = to;
	return 'r';
}

/* Does a call return with event INDEX? A thread's last one does not. *AT is the instant. */
static bool returns(struct lz_front *f, uint64_t index, struct lz_pos *at)
{
	const struct lz_event *ev = lz_reader_event(f->reader, index);

	if (!ev || ev->kind != LZ_EV_SYSCALL || ev->flags & LZ_EVF_THREAD_END)
		return false;
	*at = behind(ev);
	return true;
}

static char next_forward(struct lz_front *f, const struct lz_pos *now, struct lz_pos *at,
                         uint64_t *nr)
{
	uint64_t n = lz_reader_n_events(f->reader), i = now->event;
	char what;

	if (i < n && look(f, i, at, nr) == 'e' && now->ip == at->ip) {
		if (returns(f, i, at))
			return 'r';
		i++;
	}
	for (; i < n; i++)
		if ((what = look(f, i, at, nr)))
			return what;
	return 0;
}

/* Control comes to the instruction behind a call again, if a loop begins with it. */
static bool is_return(const struct lz_pos *now, const struct lz_pos *at)
{
	return now->event == at->event && now->marker == at->marker && now->ip == at->ip &&
	       now->n == 1;
}

static char next_backward(struct lz_front *f, const struct lz_pos *now, struct lz_pos *at,
                          uint64_t *nr)
{
	uint64_t first = lz_reader_first_event(f->reader), i = now->event;
	struct lz_pos to;
	char what;

	while (i-- > first) {
		what = look(f, i, at, nr);
		if (what && returns(f, i, &to) && !is_return(now, &to)) {
			*at = to;
			return 'r';
		}
		if (what == 'e')
			return what;
	}
	return 0;
}

/* The next stop in direction D from now: 'e' before a call, 'r' behind it, 0 if there is none. */
static char next_stop(struct lz_front *f, enum lz_direction d, struct lz_pos *at, uint64_t *nr)
{
	struct lz_pos now;

	lz_session_where(f->s, &now);
	return (d == LZ_FORWARD ? next_forward : next_backward)(f, &now, at, nr);
}

static bool is_there(const struct lz_pos *now, const struct lz_pos *at, char what)
{
	return what == 'r' ? is_return(now, at) : now->event == at->event && now->ip == at->ip;
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
		if (is_there(&now, &at, what)) {
			f->catch.nr = nr;
			f->catch.stop = what;
			return 0;
		}
		if (lz_front_break_at(f, now.ip))
			return 0;
	}
}
