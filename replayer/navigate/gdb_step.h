/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What GDB 13's `step` and `next` do, on a machine that can execute one instruction or run to an
 * address: the same stops, so that bs and prev can be their exact inverses. Knows no session.
 *
 * Where GDB single-steps through code that it will not stop in, this runs to where it would come
 * out. */
#ifndef LIZARD_REPLAYER_GDB_STEP_H
#define LIZARD_REPLAYER_GDB_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>
#include <lizard/piece.h>
#include "replayer/program/lines.h"
#include "replayer/program/skips.h"

enum lz_move {
	LZ_MOVE_DONE,
	LZ_MOVE_END,    /* the program, or the part of it that was asked for, ends before */
	LZ_MOVE_GOAL,   /* run: came across the machine's goal on the way */
	LZ_MOVE_SIGNAL, /* a signal that GDB stops for is about to be delivered */
	LZ_MOVE_JUMPED, /* a longjmp has led here, not into a call made by the frame `began` */
	LZ_MOVE_FAILED  /* lz_error() */
};

/* A place to run to: rsp must be SP there, 0 = any. */
struct lz_place {
	uint64_t pc, sp;
};

struct lz_machine {
	void *arg;
	/* Set when control left a function that GDB knows no lines of other than by running over
	 * it: a callback or a signal handler has returned. */
	bool left_unknown;
	/* What `step` goes over; NULL: nothing. */
	const struct lz_skips *skips;
	/* The frame in which the step began that goes on; 0: none goes on, or it is not known. */
	uint64_t began;
	int (*regs)(void *arg, struct user_regs_struct *r);
	size_t (*read)(void *arg, uint64_t addr, void *buf, size_t len);
	/* One instruction, and further ones while control stays in [start, end) and off the goal. A
	 * signal handler that would be entered runs to its end. */
	enum lz_move (*step_range)(void *arg, uint64_t start, uint64_t end);
	/* The same for a piece of code of one frame, in whose first range control is; calls made
	 * in it are run over. It may be long, or, if it is of lines, have a loop in it. */
	enum lz_move (*run_out)(void *arg, const struct lz_piece_of_code *of);
	/* Until at one of the places. */
	enum lz_move (*run)(void *arg, const struct lz_place *places, size_t n);
	/* True when exactly at the position that is looked for. */
	bool (*at_goal)(void *arg);
	/* The line table for ADDR and its load bias; NULL if no file is mapped there. */
	struct lz_lines *(*lines)(void *arg, uint64_t addr, uint64_t *bias);
	/* ADDR is in the run-time loader, whose code is at *start..*end. */
	bool (*in_loader)(void *arg, uint64_t addr, uint64_t *start, uint64_t *end);
};

enum lz_step_result {
	LZ_STEPPED,     /* GDB stops here */
	LZ_STEP_SIGNAL, /* GDB stops here, before the signal is delivered */
	LZ_STEP_PASSED, /* the goal was reached where GDB does not stop; now there */
	LZ_STEP_OVER,   /* the goal lies inside what GDB runs over; now there */
	LZ_STEP_END,    /* no stop before the end */
	LZ_STEP_FAILED
};

enum lz_step_over {
	LZ_OVER_NOTHING, /* `step` */
	LZ_OVER_ALL,     /* `next` */
	LZ_OVER_CALLS    /* over calls like `next`, into inlined ones like `step` */
};

/* One `step` or `next` from here. */
enum lz_step_result lz_gdb_step(struct lz_machine *m, enum lz_step_over over);

/* At a call in code that GDB knows no lines of, and maybe no function: to where GDB stops in the
 * function that is called. LZ_STEP_END: nowhere, it has returned. */
enum lz_step_result lz_gdb_step_into(struct lz_machine *m);

/* Runs out of inlined calls of this frame until control is in no more than INLINES of them.
 * LZ_STEPPED: it is. */
enum lz_step_result lz_gdb_leave(struct lz_machine *m, uint32_t inlines);

/* Where GDB would put the end of the prologue of the function at START..END (run-time addresses)
 * when it steps into it. */
uint64_t lz_gdb_skip_prologue(struct lz_machine *m, uint64_t start, uint64_t end);

/* The canonical frame address here, 0 if no rule is known. *inlines (may be NULL): in how many
 * inlined calls control is, those not counted that begin right here. */
uint64_t lz_gdb_frame(struct lz_machine *m, uint32_t *inlines);

/* Has the frame CFA made a call, directly or not, that control is in? */
bool lz_gdb_is_within(struct lz_machine *m, uint64_t cfa);

/* In how many inlined calls code at PC is, as above. */
uint32_t lz_gdb_inlines(struct lz_machine *m, uint64_t pc);

/* How many of the inlined calls that begin right here `step` does not go down into, since it skips the
 * outermost of them. */
uint32_t lz_gdb_skipped_here(struct lz_machine *m);

/* Does an inlined call begin right here, which GDB hides until it is stepped into? */
bool lz_gdb_hides(struct lz_machine *m);

#endif
