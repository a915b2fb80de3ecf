/* `catch syscall`: the event log says which call comes next and where; a breakpoint of our own there. */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { SYSCALL_INSN = 2 }; /* its length; an event's ip is behind it */

int lz_rsp_catch_packet(struct lz_rsp *p, const char *args)
{
	p->catching = args[0] == '1';
	p->n_caught = 0;
	for (args++; *args == ';' && p->n_caught < LZ_RSP_CAUGHT_MAX;) {
		char *end;
		unsigned long nr = strtoul(args + 1, &end, 16);

		if (end != args + 1)
			p->caught[p->n_caught++] = (uint32_t)nr;
		args = end;
	}
	return lz_rsp_reply(p, "OK");
}

static bool wanted(const struct lz_rsp *p, const struct lz_event *ev)
{
	if (!ev || ev->kind != LZ_EV_SYSCALL)
		return false;
	for (uint32_t i = 0; i < p->n_caught; i++)
		if (p->caught[i] == ev->nr)
			return true;
	return p->n_caught == 0;
}

/* The next stop in direction D from now: 'e' before a call, 'r' behind it, 0 if there is none. */
static char next_stop(struct lz_rsp *p, enum lz_direction d, struct lz_pos *at, uint64_t *nr)
{
	uint64_t n = lz_reader_n_events(p->reader);
	struct lz_pos now;

	lz_session_where(p->s, &now);
	const struct lz_event *ev = now.event < n ? lz_reader_event(p->reader, now.event) : NULL;

	at->event = now.event;
	if (d == LZ_FORWARD && wanted(p, ev) && now.ip == ev->ip - SYSCALL_INSN) {
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
		ev = lz_reader_event(p->reader, at->event);
		if (wanted(p, ev))
			break;
		if (d == LZ_FORWARD)
			at->event++;
	}
	at->ip = ev->ip - SYSCALL_INSN;
	*nr = ev->nr;
	return 'e';
}

static bool users(const struct lz_rsp *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n_breaks; i++)
		if (p->breaks[i].kind < 2 && p->breaks[i].addr == addr)
			return true;
	return false;
}

int lz_rsp_run_catching(struct lz_rsp *p, enum lz_direction d)
{
	struct lz_pos at, now;
	uint64_t nr;

	for (;;) {
		char what = next_stop(p, d, &at, &nr);

		if (what && lz_session_break(p->s, at.ip) < 0)
			return -1;
		int rc = lz_session_run(p->s, d, &p->stop);

		if (what)
			lz_session_unbreak(p->s, at.ip);
		if (rc < 0 || !what || p->stop.reason != LZ_STOP_BREAKPOINT)
			return rc;
		lz_session_where(p->s, &now);
		if (now.ip == at.ip && now.event == at.event) {
			p->syscall_nr = nr;
			p->syscall_stop = what;
			return 0;
		}
		if (users(p, now.ip))
			return 0;
	}
}
