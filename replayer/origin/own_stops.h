/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Breakpoints and watchpoints of a search. Those of the user are put aside meanwhile. */
#ifndef LIZARD_REPLAYER_OWN_STOPS_H
#define LIZARD_REPLAYER_OWN_STOPS_H

#include "replayer/session/session.h"

struct lz_own_stops {
	struct lz_user_break *breaks;
	size_t n_breaks;
	struct lz_user_watch *watches;
	size_t n_watches;
	uint64_t signals;
};

/* Signals do not stop the session, either. */
void lz_own_stops_begin(struct lz_session *s, struct lz_own_stops *users);
/* Drops those of the search. */
void lz_own_stops_end(struct lz_session *s, const struct lz_own_stops *users);
/* A breakpoint of the search at ADDR that counts where HOLDS. */
int lz_own_break(struct lz_session *s, uint64_t addr, lz_condition *holds, void *arg);

#endif
