/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the markers' own blocks end up in the machine code. */
#include "gcc.h"
#include "plugin.h"

/* GCC puts the successor that it thinks likelier in line. Out of line a marker costs two jumps each
 * time; in line it costs one jump each time that it is not met. So one that is met in a third of
 * the cases or more belongs in line, and of a guess of 20 to 50 % that is not known: it may be off
 * by any amount (a loop's `if (y || x)`: guessed 20 %, true 89 %; the program took 1.5 times
 * native, 1.2 in line). Below, most are right: errors, ends of loops, what __builtin_expect()
 * says. */
enum { LIKELIER_PERCENT = 55 };

bool lz_edge_is_guess(edge e, int *percent)
{
	if (!e->probability.initialized_p() || e->probability.reliable_p())
		return false;
	*percent = e->probability.to_reg_br_prob_base() * 100 / REG_BR_PROB_BASE;
	return true;
}

void lz_keep_in_line(basic_block marker)
{
	int percent;

	if (!single_pred_p(marker))
		return;
	edge e = single_pred_edge(marker);
	if (EDGE_COUNT(e->src->succs) != 2 || !lz_edge_is_guess(e, &percent) ||
	    percent < LZ_RARE_PERCENT || percent >= LIKELIER_PERCENT)
		return;
	edge other = EDGE_SUCC(e->src, EDGE_SUCC(e->src, 0) == e);
	e->probability =
	    profile_probability::from_reg_br_prob_base(LIKELIER_PERCENT * REG_BR_PROB_BASE / 100)
	        .guessed();
	other->probability = e->probability.invert();
	marker->count = e->count();
}
