/* What the files of the front share: see include/lizard/front.h. */
#ifndef LIZARD_FRONT_INT_H
#define LIZARD_FRONT_INT_H

#include "replayer/navigate/over_inlined.h"
#include "replayer/front/regs.h"
#include <lizard/front.h>
#include <stdio.h>

struct lz_front_break {
	enum lz_front_kind kind;
	uint64_t addr, len;
	bool set; /* the session has it (an address that is not mapped now may be refused) */
};

enum { LZ_FRONT_CAUGHT_MAX = 512 };

/* The part of a history that was shown last; FROM: the instant at which that was. */
struct lz_front_page {
	bool used;
	struct lz_pos from;
	int64_t first, end;
};

struct lz_front {
	struct lz_session *s;
	struct lz_reader *reader;
	const char *name; /* the front end's */
	uint32_t pid;
	char comm[16];
	bool host_files, quiet;
	struct lz_regmap *map;
	struct lz_regfile regs; /* scratch of the present position, when regs_valid */
	bool regs_valid;
	uint32_t tid; /* the chosen thread, 0: the present one */
	/* Where a step of one thread began in which another one would have stopped, and where it ended; n = 0: there
	 * is none. See front_threads.c. */
	struct lz_pos passed_from, passed_to;
	struct lz_front_names { /* names given by events up to `read` */
		struct lz_front_name {
			uint64_t event; /* from behind this event on */
			uint32_t tid;
			char name[16];
		} * v;
		size_t n, cap;
		uint64_t read;
		uint32_t fd,
		    fd_tid; /* 1 + descriptor of the name file that is open, of whose thread */
	} names;
	uint32_t tls_modid; /* see front_tls.c; 0: not known */
	bool said_unseen;   /* that changes of a thread-local variable may be missed */
	uint8_t *auxv;
	size_t auxv_len;
	struct lz_front_break *breaks;
	size_t n_breaks;
	uint64_t pass_signals; /* bit signo */
	bool pass_all;
	struct lz_stop stop; /* the last one */
	bool ran;            /* it ended a run through a piece of code */
	/* catch syscall */
	bool catching;
	uint32_t caught[LZ_FRONT_CAUGHT_MAX], n_caught; /* 0: all */
	char syscall_stop; /* this stop is at a call's entry 'e' or return 'r' */
	uint64_t syscall_nr;
	/* a diversion, while the user has not moved in time */
	struct lz_diversion *div;
	uint32_t div_tid; /* the thread that runs in it */
	bool called, div_written;
	/* Where the function that is being called finds its return address; 0: none is. */
	uint64_t call_sp;
	uint32_t
	    waiting_tid; /* the stop is of this thread, which has not had its turn; 0: of the one that has it */
	/* A thread that was stepped meanwhile in it, over a breakpoint, and its registers until the next resume; 0: none */
	uint32_t stepped_tid;
	struct lz_regfile stepped;
	struct lz_over over; /* the command that steps */
	/* The libraries that the debugger was told of last; kept: it is to forget none of them. See front_libs.c. */
	struct lz_front_libs {
		char **xml; /* an element of the list each */
		size_t n;
	} libs;
	bool libs_kept;
	/* a move armed by a monitor command, carried out by the next reverse resume */
	char *armed;
	char moving; /* 's' or 'c': this stop ends an armed move, begun by a step or a continue */
	uint32_t moved_tid; /* ... of this thread */
	struct lz_front_page calls, insns;
	char *note; /* what there is to say about the last move */
};

/* ---- front.c ---- */
/* Adds a line to the note. */
void lz_front_say(struct lz_front *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- front_state.c ---- */
/* The chosen thread's registers, in the diversion if there is one. */
const struct lz_regfile *lz_front_regs(struct lz_front *f);
/* Is a thread-local variable watched that is not there yet (lz_front_tls)? */
bool lz_front_watches_nowhere(const struct lz_front *f);
/* Tries again what could not be set before. */
void lz_front_breaks_retry(struct lz_front *f);
/* The user's breakpoint there; NULL if there is none. */
const struct lz_front_break *lz_front_break_at(const struct lz_front *f, uint64_t addr);

/* ---- front_code.c ---- */
/* BYTES were read at ADDR. */
void lz_front_disarm(struct lz_front *f, uint64_t addr, void *bytes, size_t n);

/* ---- front_divert.c ---- */
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

/* ---- front_run.c ---- */
/* The signals that do not stop a run. */
uint64_t lz_front_passed(const struct lz_front *f);
void lz_front_first_stop(struct lz_front *f);

/* ---- front_catch.c ---- */
/* As lz_session_run() into f->stop; at a caught system call sets syscall_stop. */
int lz_front_run_catching(struct lz_front *f, enum lz_direction d);

/* ---- front_move.c ---- */
/* In thread TID, where that matters. */
int lz_front_move(struct lz_front *f, const char *text, uint32_t tid);

/* ---- front_libs.c ---- */
void lz_front_libs_free(struct lz_front_libs *libs);

/* ---- front_names.c ---- */
/* Thread TID's name now. */
void lz_front_thread_name(struct lz_front *f, uint32_t tid, char name[16]);

/* ---- front_threads.c ---- */
/* The thread that registers are asked of. */
uint32_t lz_front_chosen(const struct lz_front *f);
/* A step or range of thread TID, into f->stop. */
int lz_front_step(struct lz_front *f, const struct lz_front_resume *r, uint32_t tid);
/* If the last step has passed another thread's stop: goes there. 1: it did. */
int lz_front_go_to_passed(struct lz_front *f);

/* ---- front_objects.c ---- */
int lz_front_find_auxv(struct lz_front *f);

/* ---- front_proc.c ---- */
/* The text of /proc/PID/NAME at the present position. malloced; NULL if there is none. */
char *lz_front_proc_file(struct lz_front *f, const char *name, size_t *len);
/* What /proc/PID/NAME links to; NULL if it is no link. Owned by the recording. */
const char *lz_front_proc_link(struct lz_front *f, const char *name);

#endif
