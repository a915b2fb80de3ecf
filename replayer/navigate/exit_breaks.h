/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A piece of code of one frame, for running through it at full speed: breakpoints are at its
 * exits. */
#ifndef LIZARD_REPLAYER_EXIT_BREAKS_H
#define LIZARD_REPLAYER_EXIT_BREAKS_H

#include "replayer/program/exits.h"
#include "replayer/navigate/nav.h"

enum { LZ_LANDINGS_MAX = 128 };

struct lz_exit_breaks {
	const struct lz_piece_of_code *of; /* its owner outlives this */
	uint64_t cfa;
	struct lz_exit exits[LZ_EXITS_MAX];
	/* where control comes back to the function other than by a return */
	uint64_t landings[LZ_LANDINGS_MAX];
	/* armed: breakpoints that are set */
	int n, n_landings, armed;
};

/* False: running is not worth it, refused, or not known to come out where control does. */
bool lz_exit_breaks_find(struct lz_nav *nav, const struct lz_piece_of_code *of,
                         struct lz_exit_breaks *p);
/* Sets the breakpoints. -1: not all; disarm it in any case. */
int lz_exit_breaks_arm(struct lz_nav *nav, struct lz_exit_breaks *p);
void lz_exit_breaks_disarm(struct lz_nav *nav, struct lz_exit_breaks *p);
/* From A, or from B back, a run came to something else first: so will one from in between. */
void lz_exit_breaks_bar(struct lz_nav *nav, const struct lz_pos *a, const struct lz_pos *b);
bool lz_exit_breaks_is_barred(const struct lz_nav *nav, const struct lz_pos *now);
/* Is there an exit at IP that may lead anywhere, so that only a step tells where? */
bool lz_exit_breaks_leads_anywhere(const struct lz_exit_breaks *p, uint64_t ip);
/* Has a call made in the piece been left for IP, in the piece's own frame, by a longjmp or an
 * exception? A debugger that steps over that call goes on until its return address is come to,
 * which may be elsewhere. */
bool lz_exit_breaks_lands_at(const struct lz_exit_breaks *p, uint64_t ip);
/* How many of its breakpoints are at ADDR? */
uint32_t lz_exit_breaks_count(const struct lz_exit_breaks *p, uint64_t addr);
bool lz_exit_breaks_is_exit(const struct lz_exit_breaks *p, uint64_t ip);
/* Is the present frame one that was called from the piece? Its own code can run there as well. */
bool lz_exit_breaks_is_deeper(struct lz_nav *nav, const struct lz_exit_breaks *p);

#endif
