/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of gdb_step.h: one step while it goes on. */
#ifndef LIZARD_REPLAYER_STEP_INSIDE_H
#define LIZARD_REPLAYER_STEP_INSIDE_H

#include "replayer/navigate/gdb_step.h"

enum {
	STEP_INLINES = 16, /* calls in each other, at most */
	GO_ON = -1         /* beside enum lz_step_result: no stop yet */
};

/* A line, and whose table says so. */
struct place_line {
	struct lz_sal sal; /* with run-time addresses */
	const struct lz_lines *of;
};

/* GDB's frame id: the real frame, and the inlined calls within it that are not hidden. */
struct step_frame {
	uint64_t cfa, func;
	uint64_t inlines[STEP_INLINES];
	size_t n;
};

struct stepping {
	struct lz_machine *m;
	bool over_calls, over_inlines; /* `next` does both, `step` neither */
	uint64_t start, end;           /* the range that is stepped through */
	uint32_t line, symtab;
	const struct lz_lines *of;
	struct step_frame frame;
	/* An inlined call that is gone over: wherever control is in it, GDB steps on. */
	struct lz_piece_of_code over;
	struct user_regs_struct r;
	uint64_t call_sp; /* rsp at the entry of a function being called through stubs, 0 = none */
	uint64_t rounds, run_after;
};

/* ---- step_frames.c: all addresses are run-time ones ---- */

/* The row of the line table that PC is in; line 0: none. */
struct place_line step_line(struct lz_machine *m, uint64_t pc);
/* False: GDB knows no function at PC. */
bool step_function(struct lz_machine *m, uint64_t pc, struct lz_range *out);
bool step_in_plt(struct lz_machine *m, uint64_t pc);
/* ARG is a struct lz_machine. False: ADDR cannot be read. */
bool step_read_word(void *arg, uint64_t addr, uint64_t *word);
/* The canonical frame address here. False: no rule is known. */
bool step_cfa(struct stepping *s, uint64_t *cfa);
/* The inlined calls around PC, the outermost first, into IN[STEP_INLINES]; *hidden: how many of the
 * innermost begin right here, or a further piece of theirs, which GDB hides until they are stepped
 * into. */
size_t step_inlines(struct lz_machine *m, uint64_t pc, struct lz_inline *in, size_t *hidden);
/* The frame here, with N inlined calls. */
void step_fill_frame(struct stepping *s, const struct lz_inline *in, size_t n,
                     struct step_frame *f);
bool step_same_frame(const struct step_frame *a, const struct step_frame *b);
/* A is an inlined call, direct or not, made in B. */
bool step_inlined_from(const struct step_frame *a, const struct step_frame *b);
/* The frame that GDB shows: without the calls that begin here, unless they have been entered.
 * Returns how many are hidden. */
size_t step_shown_frame(struct stepping *s, const struct lz_inline *in, size_t n, size_t hidden,
                        struct step_frame *now);

/* ---- step_skips.c ---- */

/* Does `step` go over the function at ENTRY? */
bool step_skips_function(struct lz_machine *m, uint64_t entry);
/* The first one that `step` goes over, of the inlined calls IN[FROM] to IN[TO - 1], of N around PC. TO: none. */
size_t step_skipped_inline(struct lz_machine *m, uint64_t pc, const struct lz_inline *in, size_t n,
                           size_t from, size_t to);
/* Does it go over all code of number WHICH of them, whatever file that is of? */
bool step_skips_all_of(struct lz_machine *m, uint64_t pc, size_t which);

/* ---- step_calls.c: these return GO_ON or a result ---- */

/* What a run that was to come back means for the step. */
int step_after_run(struct stepping *s, enum lz_move move);
/* Control has left the range: by a call that GDB takes for one of the stepped frame's? */
bool step_has_called(struct stepping *s);
/* At the system call with which a signal handler ends, or in front of it? */
bool step_in_sigreturn(struct stepping *s);
/* In the run-time loader (START..END), of which GDB shows nothing: from its resolver straight to
 * the function itself, else on until control is outside. */
int step_through_loader(struct stepping *s, uint64_t start, uint64_t end);
/* "Stepped into subroutine": to its first line, or over it. */
int step_into_call(struct stepping *s);
/* "Stepped into undebuggable function": to its caller. */
int step_out_of_unknown(struct stepping *s);

#endif
