/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Breakpoints of a session: kept here, set in engines. */
#include "replayer/session/session.h"
#include <common/array.h>
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
	s->breaks[s->n_breaks++] = (struct lz_user_break){addr, 1};
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
