/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Navigation's state of one session: mapped files, the decoded stream, the last chain of stops. */
#ifndef LIZARD_REPLAYER_NAV_H
#define LIZARD_REPLAYER_NAV_H

#include <lizard/session.h>
#include "replayer/navigate/result_cache.h"
#include "replayer/navigate/gdb_step.h"
#include "replayer/stream/stream.h"

struct lz_chain_stop {
	struct lz_pos pos;
	uint64_t cfa;     /* of the frame, 0 = not known */
	uint32_t inlines; /* inlined calls that control is in */
	bool hides;       /* another one begins right there */
	bool left;        /* come to by leaving code without lines, which other walks run over */
};

/* Consecutive stops of `step` or `next`, in the order of time. */
struct lz_chain {
	struct lz_chain_stop *stop;
	bool next; /* of `next` */
	size_t n, cap;
	struct lz_chain_stop from; /* the frame in which it began */
};

struct lz_nav {
	struct lz_session *s;
	struct lz_modules *modules;
	struct lz_stream_threads threads;
	struct lz_stream *stream;
	struct lz_chain step, next;     /* the last ones that led to an answer */
	struct lz_results steps, nexts; /* all that were found, as far as there is room */
	struct lz_pos goal;             /* what the machine looks for, in its own thread */
	uint32_t thread;                /* the goal's, by number */
	uint64_t skips;                 /* lz_skips_number() of what `step` goes over */
	uint64_t passed;       /* bit signo: passed by; during a search the session tells of it */
	struct lz_pos handler; /* begins here, was run over, came back to the goal; event 0: none */
	struct lz_pos barred[2]; /* running through a piece of code from in between was in vain */
	bool interrupted;
	uint32_t effort; /* stops on the way so far, of one search */
	bool gave_up;
	struct lz_machine machine; /* the session itself, for the stepper */
};

/* The session's, freed with it; made on first use. NULL on failure. */
struct lz_nav *lz_nav_of(struct lz_session *s);

/* Sets the goal, an instant at which its thread runs. */
int lz_nav_aim(struct lz_nav *nav, const struct lz_pos *goal);
/* Where the goal's thread has written its last marker at or before OFFSET, or in the middle of
 * one: its end; 0: none. */
int64_t lz_nav_own_end(struct lz_nav *nav, uint64_t offset);
/* The same, DISTANCE bytes of the thread's own markers further back, but not before the end of
 * its first one. -1: failed */
int64_t lz_nav_own_back(struct lz_nav *nav, uint64_t offset, uint64_t distance);
/* The end of its first one; 0: none. */
uint64_t lz_nav_own_first(struct lz_nav *nav);
/* The activation that the goal's thread left by its last marker at or before OFFSET: by a return,
 * a tail call, or a landing further out. False: none. */
bool lz_nav_left(struct lz_nav *nav, uint64_t offset, struct lz_act *act);
/* Makes the call stacks at the starts of all blocks up to MARKER known. 1: it was interrupted. */
int lz_nav_index(struct lz_nav *nav, uint64_t marker);
/* Sets up nav->machine. */
void lz_nav_machine(struct lz_nav *nav);

#endif
