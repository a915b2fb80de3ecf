/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bs and prev share: chains of stops, found by stepping forwards from an anchor. Knows how
 * to build them, not where to begin. */
#ifndef LIZARD_REPLAYER_STOP_CHAIN_H
#define LIZARD_REPLAYER_STOP_CHAIN_H

#include "replayer/navigate/nav.h"

/* Bytes of the stream: so far lz_search_step() looks back from code without markers for a stop
 * that is not deeper. */
enum { LZ_UNMARKED_FAR = 12000 };

/* Which stops are asked for. */
enum lz_scope {
	LZ_SCOPE_ALL,
	/* those that are not in a deeper frame than the goal, inlined calls apart */
	LZ_SCOPE_FRAME,
	LZ_SCOPE_OUTER /* the same, and inlined calls count as frames */
};

enum chain_end {
	CHAIN_ARRIVED, /* the last stop is the goal */
	CHAIN_PASSED,  /* the goal was passed in the middle of a line */
	CHAIN_OVER,    /* the goal lies in what was run over */
	CHAIN_LOST     /* never came to the goal */
};

/* Steps from the present instant on, up to the goal. */
int lz_chain_build_here(struct lz_nav *nav, bool next, struct lz_chain *c, enum chain_end *end);
/* To stream offset ANCHOR, where a chain may begin. */
int lz_chain_seek(struct lz_nav *nav, uint64_t anchor);
/* Steps from stream offset ANCHOR on, up to the goal. */
int lz_chain_build(struct lz_nav *nav, uint64_t anchor, bool next, struct lz_chain *c,
                   enum chain_end *end);
/* The stop that leads to the goal, if the chain knows it. */
const struct lz_chain_stop *lz_chain_predecessor(const struct lz_chain *c, enum chain_end end);
/* The last one that is not in a deeper frame than the goal, where the session must be. SURE: nor
 * was the walk all the way before; if it was, GDB may stop there only because of that. */
const struct lz_chain_stop *lz_chain_outer(struct lz_nav *nav, const struct lz_chain *c,
                                           enum chain_end end, bool *sure);
/* The last one in SCOPE; the session must be at the goal. */
const struct lz_chain_stop *lz_chain_last(struct lz_nav *nav, const struct lz_chain *c,
                                          enum chain_end end, enum lz_scope scope);
/* Is A in a deeper frame than B, inlined calls counted? */
bool lz_chain_is_deeper(const struct lz_chain_stop *a, const struct lz_chain_stop *b);
/* Is STOP in SCOPE? The session must be at the goal. */
bool lz_chain_in_scope(struct lz_nav *nav, const struct lz_chain_stop *stop, enum lz_scope scope);
/* The stop before POS, if the chain knows it for sure; OUTER: the last one that is not in a
 * deeper frame. */
const struct lz_chain_stop *lz_chain_before(const struct lz_chain *c, const struct lz_pos *pos,
                                            bool outer);
/* Does GDB know a line of the goal's code? Where not, `next` out of an activation stops there,
 * as `step` does. */
bool lz_chain_goal_has_line(struct lz_nav *nav);
/* Exchanges *kept and *c. */
void lz_chain_keep(struct lz_chain *kept, struct lz_chain *c);

/* The last stop of `step` in SCOPE before the goal. 1: found. */
int lz_search_step(struct lz_nav *nav, enum lz_scope scope, struct lz_pos *answer);
/* The same, but not from far back; SCOPE: not all. */
int lz_search_step_near(struct lz_nav *nav, enum lz_scope scope, struct lz_pos *answer);
/* By `next`. */
int lz_search_next(struct lz_nav *nav, struct lz_pos *answer);

#endif
