/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the front share: see include/lizard/front.h. */
#ifndef LIZARD_FRONT_INT_H
#define LIZARD_FRONT_INT_H

#include "replayer/navigate/over_inlined.h"
#include "replayer/front/regs.h"
#include "replayer/program/skips.h"
#include <lizard/front.h>
#include <stdio.h>

struct lz_front_break {
	enum lz_front_kind kind;
	uint64_t addr, len;
	bool set; /* the session has it (an address that is not mapped now may be refused) */
	/* n = 0: each arrival counts */
	struct lz_front_conditions {
		struct lz_front_condition *v;
		size_t n;
	} conditions;
};

/* The user's breakpoints and watchpoints. */
struct lz_front_breaks {
	struct lz_front_break *v;
	size_t n;
};

/* The registers of the chosen thread at the present position. */
struct lz_front_regs {
	struct lz_regfile file;
	bool valid;
};

/* Where a step of one thread began in which another one would have stopped, and where it ended;
 * n = 0: there is none. For threads.c. */
struct lz_front_passed {
	struct lz_pos from, to;
};

/* Names given by events up to `read`. For names.c. */
struct lz_front_names {
	struct lz_front_name {
		/* from behind this event on */
		uint64_t event;
		uint32_t tid;
		/* a new thread: its number in the program's PID namespace; else 0 */
		uint32_t own_tid;
		char name[16];
	} * v;
	size_t n, cap;
	uint64_t read;
	/* 1 + descriptor of the name file that is open, of whose thread */
	uint32_t fd, fd_tid;
};

/* The numbers of marks' events up to `read`. For marks.c. */
struct lz_front_marks {
	uint64_t *v;
	size_t n, cap;
	uint64_t read;
};

/* For tls.c. */
struct lz_front_tls {
	/* 0: not known */
	uint32_t modid;
};

/* A program that the process ran. For programs.c. */
struct lz_front_program {
	const char *name;
	char *path; /* the same as text */
	char comm[16];
	uint64_t stack_start;
	/* once it was looked for */
	bool has_auxv;
	uint8_t *auxv;
	size_t auxv_len;
};

struct lz_front_programs {
	struct lz_front_program *v;
	uint32_t n;
	/* the one that the debugger knows */
	uint32_t told;
	/* it has been told of that one, and not yet of the stop there */
	bool between;
};

/* Where the user was, in the order in which he came there, and which of these places is the
 * present one. For undo.c. */
enum { LZ_FRONT_MOVES = 100, LZ_FRONT_COPIES = 8 };
struct lz_front_place {
	struct lz_pos pos;
	/* It stands there; for a position that was not counted in the middle of its gap, else NULL. */
	struct lz_engine *copy;
	uint64_t moves; /* the session's then */
};
struct lz_front_places {
	struct lz_front_place v[LZ_FRONT_MOVES + 1];
	size_t n, at;
};

/* What is to say of the last stop, besides the stop. */
struct lz_front_run {
	/* it ended a continue backwards */
	bool back;
	/* it ended a run through a piece of code */
	bool through;
	/* it is of this thread, which has not had its turn; 0: of the one that has it */
	uint32_t waiting_tid;
	/* that changes of a thread-local variable may be missed */
	bool said_unseen;
};

enum { LZ_FRONT_CAUGHT_MAX = 512 };

/* `catch syscall`. */
struct lz_front_catch {
	bool on;
	/* n = 0: all */
	uint32_t calls[LZ_FRONT_CAUGHT_MAX], n;
	/* this stop is at a call's entry 'e' or return 'r' */
	char stop;
	uint64_t nr;
};

/* A diversion, while the user has not moved in time. */
struct lz_front_div {
	struct lz_diversion *run;
	/* the thread that runs in it */
	uint32_t tid;
	bool called, written;
	/* Where the function that is being called finds its return address; 0: none is. */
	uint64_t call_sp;
	/* A thread that was stepped meanwhile in it, over a breakpoint, and its registers until
	 * the next resume; 0: none */
	uint32_t stepped_tid;
	struct lz_regfile stepped;
};

/* For scratch.c. */
struct lz_front_scratch {
	struct lz_front_area {
		uint64_t addr, len;
		int prot;
		/* as they are outside of a diversion */
		uint8_t *bytes;
	} * v;
	size_t n;
	/* bytes in all; addresses given so far, from the first one on */
	uint64_t total, used;
};

/* Where a file of the recording's table is on this machine; NULL: nowhere. For here.c. */
struct lz_front_here {
	char *path;
	bool known;
};

/* The libraries that the debugger was told of, an element of the list each. */
struct lz_front_libs {
	char **xml;
	size_t n;
};

/* For libs.c. */
struct lz_front_told {
	struct lz_front_libs told;
	/* it is to forget none of them */
	bool kept;
};

/* The stop ends an armed move. */
struct lz_front_moving {
	/* 's' or 'c': this stop ends it, begun by a step or a continue; 0: no */
	char kind;
	uint32_t tid;
};

/* The part of a history that was shown last; FROM: the instant at which that was. */
struct lz_front_page {
	bool used;
	struct lz_pos from;
	int64_t first, end;
};

/* For history.c. */
struct lz_front_pages {
	struct lz_front_page calls, insns;
};

struct lz_front {
	/* what is debugged */
	struct lz_session *s;
	struct lz_reader *reader;
	/* built with lizard-cc: 1 yes, -1 no, 0 not looked yet */
	int built;
	uint32_t pid;
	struct lz_front_programs programs;
	struct lz_front_names names;
	struct lz_front_marks marks;
	struct lz_front_told libs;
	struct lz_front_tls tls;
	struct lz_front_here *here;

	/* the front end, and what it wants */
	const char *name;
	bool host_files, quiet;
	struct lz_front_breaks breaks;
	struct lz_front_catch catch;
	/* bit signo */
	uint64_t pass_signals;
	bool pass_all;
	/* the chosen thread, 0: the present one */
	uint32_t tid;
	/* what its `step` goes over; NULL: nothing */
	struct lz_skips *skips;
	/* the command that steps */
	struct lz_over_inlined over;
	/* lz_front_heed_conditions(), and a continue since */
	enum lz_front_heed heed;
	bool continued;
	/* a move that the next reverse resume carries out; NULL: none */
	struct lz_front_move *armed;

	/* where it is */
	struct lz_stop stop;
	struct lz_front_run run;
	struct lz_front_passed passed;
	struct lz_front_moving move;
	struct lz_regmap *map;
	struct lz_front_regs regs;
	struct lz_front_div div;
	struct lz_front_scratch scratch;
	struct lz_front_pages pages;
	struct lz_front_places places;
	/* what there is to say about the last move */
	char *note;
	/* why it could not be made */
	char *failure;
	/* what the last search has found, as lines key=value */
	char *found;
	/* what it has read of descriptors; NULL: nothing */
	struct lz_descriptors *descriptors;
};

/* ---- front.c ---- */
/* Adds a line to the note. */
void lz_front_say(struct lz_front *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All that lz_front_outcome() gives as one text, a failure behind "error: ". malloced, or NULL. */
char *lz_front_outcome_text(struct lz_front *f);
/* There is nothing to say. */
void lz_front_forget_outcome(struct lz_front *f);

/* ---- state.c ---- */
/* The chosen thread's registers, in the diversion if there is one. */
const struct lz_regfile *lz_front_regs(struct lz_front *f);

/* ---- breaks.c ---- */
/* Is a thread-local variable watched that is not there yet (lz_front_tls)? */
bool lz_front_watches_nowhere(const struct lz_front *f);
/* Tries again what could not be set before. */
void lz_front_breaks_retry(struct lz_front *f);
/* Whether the next run passes by breakpoints whose conditions are false. */
void lz_front_breaks_heed(struct lz_front *f, bool conditions);
/* The user's breakpoint there; NULL if there is none. */
const struct lz_front_break *lz_front_break_at(const struct lz_front *f, uint64_t addr);

/* ---- conditions.c ---- */
/* A copy in C; empty if one of the conditions is not evaluated here. */
int lz_front_conditions_copy(struct lz_front_conditions *c, const struct lz_front_condition *v,
                             size_t n);
void lz_front_conditions_free(struct lz_front_conditions *c);
/* Does one of the conditions of the breakpoint at ADDR hold? An lz_condition of a front. */
bool lz_front_condition_holds(void *front, uint64_t addr, struct lz_arrival *a);

/* ---- code.c ---- */
/* BYTES were read at ADDR. */
void lz_front_disarm(struct lz_front *f, uint64_t addr, void *bytes, size_t n);

/* ---- divert.c ---- */
int lz_front_divert(struct lz_front *f);
void lz_front_undivert(struct lz_front *f);
/* TID is the thread that runs in the diversion from here on. */
int lz_front_divert_into(struct lz_front *f, uint32_t tid);
/* Before a forward resume: what it means while there may be a diversion. */
enum lz_front_fate {
	LZ_FATE_MOVE,   /* the user moves in time: the diversion ends */
	LZ_FATE_CALL,   /* a call of a function goes on in the diversion */
	LZ_FATE_REFUSED /* a `jump` or its like: the diversion ends and nothing moves */
};
enum lz_front_fate lz_front_divert_fate(struct lz_front *f);
int lz_front_divert_run(struct lz_front *f, bool step);
/* One instruction of another thread than the one in which the call is made. */
int lz_front_divert_step_other(struct lz_front *f, uint32_t tid);

/* ---- scratch.c ---- */
/* A diversion begins, or is about to end. */
int lz_front_scratch_enter(struct lz_front *f);
void lz_front_scratch_leave(struct lz_front *f);
/* False: not all of it is the debugger's own memory. Reading outside of a diversion only. */
bool lz_front_scratch_read(struct lz_front *f, uint64_t addr, void *buf, size_t len);
bool lz_front_scratch_write(struct lz_front *f, uint64_t addr, const void *buf, size_t len);
/* The first area that ends behind ADDR; NULL: there is none. */
const struct lz_front_area *lz_front_scratch_next(struct lz_front *f, uint64_t addr);
void lz_front_scratch_free(struct lz_front *f);

/* ---- here.c ---- */
/* Where file FILE of the table is on this machine, as it was recorded. NULL: nowhere. Owned by F. */
const char *lz_front_file_here(struct lz_front *f, uint32_t file);
void lz_front_here_free(struct lz_front *f);

/* ---- run.c ---- */
/* The signals that do not stop a run. */
uint64_t lz_front_passed(const struct lz_front *f);
void lz_front_first_stop(struct lz_front *f);

/* ---- catch.c ---- */
/* As lz_session_run() into f->stop; at a caught system call sets syscall_stop. */
int lz_front_run_catching(struct lz_front *f, enum lz_direction d);

/* ---- move.c ---- */
/* In thread TID, where that matters. */
int lz_front_move(struct lz_front *f, const struct lz_front_move *m, uint32_t tid);
/* *BEGIN: where the program begins into which the armed move leads; n = 0: it is the present one. */
void lz_front_crosses(struct lz_front *f, struct lz_pos *begin);

/* ---- access.c ---- */
/* The search that M asks for. What it finds is in f->found. */
int lz_front_access(struct lz_front *f, const struct lz_front_move *m);

/* As `call=...`. */
void lz_front_print_event(FILE *to, struct lz_front *f, const struct lz_event *ev);

/* ---- origin.c ---- */
/* Likewise. */
int lz_front_origin(struct lz_front *f, const struct lz_front_move *m);

/* ---- intervals.c ---- */
/* The positions of all checkpoints, as lines. malloced. */
char *lz_front_intervals(struct lz_front *f);

/* ---- undo.c ---- */
/* N moves back or, LZ_FORWARD, on. */
int lz_front_undo(struct lz_front *f, enum lz_direction d, uint64_t n);
void lz_front_forget_places(struct lz_front *f);

/* ---- libs.c ---- */
void lz_front_libs_free(struct lz_front_libs *libs);

/* ---- marks.c ---- */
/* The number of the last mark before event NOW, from 1 on, and its text, for a terminal; 0: none. */
uint64_t lz_front_last_mark(struct lz_front *f, uint64_t now, char *text, size_t size);

/* ---- names.c ---- */
/* Thread TID's name now. */
void lz_front_thread_name(struct lz_front *f, uint32_t tid, char name[16]);

/* ---- output.c ---- */
/* The answer to `monitor output TEXT`. malloced. */
char *lz_front_output(struct lz_front *f, const char *text);

/* ---- threads.c ---- */
/* The thread that registers are asked of. */
uint32_t lz_front_chosen(const struct lz_front *f);
/* A step or range of thread TID, into f->stop. */
int lz_front_step(struct lz_front *f, const struct lz_front_resume *r, uint32_t tid);
/* If the last step has passed another thread's stop: goes there. 1: it did. */
int lz_front_go_to_passed(struct lz_front *f);

/* ---- programs.c ---- */
int lz_front_programs_new(struct lz_front *f);
void lz_front_programs_free(struct lz_front *f);
/* The program that runs now; what it is after EVENT events. */
struct lz_front_program *lz_front_now_runs(const struct lz_front *f);
const struct lz_front_program *lz_front_runs_at(const struct lz_front *f, uint64_t event);
/* Whether the debugger is still to be told that it is another one. Once. */
bool lz_front_tell_program(struct lz_front *f);

/* ---- objects.c ---- */
/* Finds the auxiliary vector of P, which runs now. */
int lz_front_find_auxv(struct lz_front *f, struct lz_front_program *p);
/* What the auxiliary vector says of TYPE; 0: nothing. */
uint64_t lz_front_auxv_value(struct lz_front *f, uint64_t type);
/* Is V the vDSO that the program has found? */
bool lz_front_is_vdso(struct lz_front *f, const struct lz_vma *v);

/* ---- proc.c ---- */
/* The text of /proc/PID/NAME at the present position. malloced; NULL if there is none. */
char *lz_front_proc_file(struct lz_front *f, const char *name, size_t *len);
/* What /proc/PID/NAME links to; NULL if it is no link. Owned by the recording, and not yet text. */
const char *lz_front_proc_link(struct lz_front *f, const char *name);

#endif
