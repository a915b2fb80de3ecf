/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Breakpoints of a session, and their conditions: kept here, set in engines. */
#include "replayer/session/session.h"
#include <common/base/array.h>
#include <lizard/error.h>

int lz_session_break(struct lz_session *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_breaks; i++)
		if (s->breaks[i].addr == addr) {
			s->breaks[i].count++;
			return 0;
		}
	if (lz_extend(s->breaks, s->n_breaks) < 0)
		return -1;
	s->breaks[s->n_breaks++] = (struct lz_user_break){.addr = addr, .count = 1};
	return 0;
}

int lz_session_unbreak(struct lz_session *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_breaks; i++) {
		if (s->breaks[i].addr != addr)
			continue;
		if (!--s->breaks[i].count)
			s->breaks[i] = s->breaks[--s->n_breaks];
		return 0;
	}
	return lz_fail("there is no breakpoint at %#lx", (unsigned long)addr);
}

/* ---- conditions ---- */

static struct lz_user_break *find(const struct lz_session *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_breaks; i++)
		if (s->breaks[i].addr == addr)
			return &s->breaks[i];
	return NULL;
}

int lz_session_condition(struct lz_session *s, uint64_t addr, lz_condition *holds, void *arg)
{
	struct lz_user_break *b = find(s, addr);

	if (!b)
		return lz_fail("there is no breakpoint at %#lx", (unsigned long)addr);
	b->holds = holds;
	b->arg = arg;
	return 0;
}

static bool conditional(const struct lz_user_break *b)
{
	return b && b->holds && b->count == 1;
}

bool lz_session_conditional(const struct lz_session *s)
{
	for (size_t i = 0; i < s->n_breaks; i++)
		if (conditional(&s->breaks[i]))
			return true;
	return false;
}

bool lz_session_holds(struct lz_session *s, struct lz_engine *e)
{
	const struct lz_user_break *b = find(s, e->regs.rip);

	if (!conditional(b) || b->holds(b->arg, b->addr, (struct lz_arrival *)e))
		return true;
	s->false_arrivals++;
	return false;
}

static bool in_gap_of(const struct lz_passed *p, const struct lz_engine *e)
{
	return p->n && p->event == e->event && p->marker == e->marker;
}

bool lz_session_goes_past(struct lz_session *s)
{
	const struct lz_engine *e = s->e;
	struct lz_user_break *b = find(s, e->regs.rip);

	if (lz_session_holds(s, s->e))
		return false;
	if (!in_gap_of(&b->passed, e))
		b->passed = (struct lz_passed){e->event, e->marker, 0};
	b->passed.n++;
	return true;
}

uint64_t lz_session_gone_past(const struct lz_session *s)
{
	const struct lz_user_break *b = find(s, s->e->regs.rip);

	return b && in_gap_of(&b->passed, s->e) ? b->passed.n : 0;
}

int lz_arrival_regs(struct lz_arrival *a, struct user_regs_struct *r)
{
	/* without the resume flag, which the engine goes on to need */
	*r = ((struct lz_engine *)a)->regs;
	r->eflags &= ~(uint64_t)LZ_FLAG_RF;
	return 0;
}

int lz_arrival_xstate(struct lz_arrival *a, uint8_t *buf, uint32_t *len)
{
	return lz_proc_xstate(&((struct lz_engine *)a)->proc, buf, len);
}

size_t lz_arrival_read(struct lz_arrival *a, uint64_t addr, void *buf, size_t len)
{
	return lz_engine_read_allowed((struct lz_engine *)a, addr, buf, len);
}
