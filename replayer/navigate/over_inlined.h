/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `next` and `finish` over inlined calls, for a debugger that does not say what it steps for: it
 * is told before such a command in which frame that goes on, and what is stepped through
 * meanwhile is left at full speed. GDB would make a single step of each instruction. */
#ifndef LIZARD_REPLAYER_OVER_INLINED_H
#define LIZARD_REPLAYER_OVER_INLINED_H

#include <lizard/piece.h>
#include <lizard/session.h>

struct lz_over_inlined {
	bool asked, begun;
	uint32_t depth; /* in how many inlined calls the command's frame is */
	/* That frame, known when the command begins: */
	uint32_t tid;
	uint64_t cfa, function, entry; /* of the innermost of those calls; 0: none */
};

/* A command begins whose frame is in DEPTH inlined calls, of those that control is in. */
void lz_over_inlined_begin(struct lz_over_inlined *o, uint32_t depth);
void lz_over_inlined_end(struct lz_over_inlined *o);
/* Before thread TID is stepped. True: it is in an inlined call made in the command's frame,
 * where GDB goes on whatever it meets: *PIECE is that call's code, not initialized else. */
bool lz_over_inlined_step(struct lz_over_inlined *o, struct lz_session *s, uint32_t tid,
                          struct lz_piece_of_code *piece);

#endif
