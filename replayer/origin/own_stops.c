/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/origin/own_stops.h"
#include <stdlib.h>

void lz_own_stops_begin(struct lz_session *s, struct lz_own_stops *users)
{
	*users = (struct lz_own_stops){s->breaks, s->n_breaks, s->watches, s->n_watches,
	                               s->pass_signals};
	s->breaks = NULL;
	s->watches = NULL;
	s->n_breaks = s->n_watches = 0;
	s->pass_signals = UINT64_MAX;
}

void lz_own_stops_end(struct lz_session *s, const struct lz_own_stops *users)
{
	for (size_t i = 0; i < s->n_watches; i++)
		free(s->watches[i].value);
	free(s->watches);
	free(s->breaks);
	s->breaks = users->breaks;
	s->n_breaks = users->n_breaks;
	s->watches = users->watches;
	s->n_watches = users->n_watches;
	s->pass_signals = users->signals;
}

int lz_own_break(struct lz_session *s, uint64_t addr, lz_condition *holds, void *arg)
{
	return lz_session_break(s, addr) < 0 ? -1 : lz_session_condition(s, addr, holds, arg);
}
