/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What any debugger needs in front of a session, whatever it speaks: registers by GDB's numbers,
 * breakpoints that may be set early, changes and calls in a diversion, caught system calls, moves
 * that it has no name for, the files of the program's world. The remote protocol's server and the
 * GDB target are thin over it.
 *
 * Names and notes are given as text for a terminal (common/base/printable.h): a debugger prints them.
 *
 * All calls come from the thread that opened the session. -1 or NULL with lz_error() set on
 * failure. */
#ifndef LIZARD_FRONT_H
#define LIZARD_FRONT_H

#include <lizard/session.h>

struct lz_front;

/* HOST_FILES: files that the recording has no copy of may be read from this machine. NAME: what
 * the front end calls itself in `monitor info`; kept. */
struct lz_front *lz_front_new(struct lz_session *s, bool host_files, const char *name);
/* Not the session. */
void lz_front_free(struct lz_front *f);
uint32_t lz_front_pid(const struct lz_front *f);
uint32_t
lz_front_tid(const struct lz_front *f); /* the present thread, or the one in which a call is made */

/* ---- threads ---- */
struct lz_front_thread {
	uint32_t tid;
	bool running;  /* the present one */
	bool fresh;    /* has not run yet */
	char name[64]; /* as text: up to 15 bytes, \xHH for each */
};
enum { LZ_MARK_TEXT = 256 };  /* what is longer is cut */
enum { LZ_THREAD_TEXT = 64 }; /* a name for a terminal: up to 15 bytes, \xHH for each */
/* Those that are there now, the oldest first. malloced. */
int lz_front_threads(struct lz_front *f, struct lz_front_thread **threads, uint32_t *n);
/* Registers, siginfo and calls are those of thread TID from here on; of the present one if it is
 * 0, and after each move. */
int lz_front_select(struct lz_front *f, uint32_t tid);
/* *ADDR: byte OFFSET of the thread-local memory of the file whose struct link_map is at LINK_MAP
 * (0: of a static program) in thread TID; where the thread has none of it yet, an address at
 * which there is never any memory. */
int lz_front_tls(struct lz_front *f, uint32_t tid, uint64_t link_map, uint64_t offset,
                 uint64_t *addr);

/* ---- registers: GDB's names, order and features for i386:x86-64 ---- */
enum { LZ_REG_MAX = 32, LZ_REG_RBP = 6, LZ_REG_RSP = 7, LZ_REG_RIP = 16 };
/* target.xml: owned by F. */
const char *lz_front_features(const struct lz_front *f);
size_t lz_front_n_registers(const struct lz_front *f);
/* Bytes of register NR copied to BYTES; 0 if there is none. */
size_t lz_front_register(struct lz_front *f, size_t nr, void *bytes);
/* Sets the registers whose numbers are in NRS to what stands one behind the other in BYTES: in a
 * diversion, and only if something really changes. */
int lz_front_set_registers(struct lz_front *f, const size_t *nrs, size_t n, const void *bytes);

/* ---- memory ---- */
/* As much as is mapped; of the diversion if there is one. From any thread, while no other call
 * goes on. */
size_t lz_front_read(struct lz_front *f, uint64_t addr, void *buf, size_t len);
/* In a diversion: the recording is never changed. */
int lz_front_write(struct lz_front *f, uint64_t addr, const void *buf, size_t len);

/* LEN bytes for the debugger's own code and values, with PROT_*. The program never has them; they
 * are in each diversion, at *ADDR, and keep what was stored there when it ends. */
int lz_front_allocate(struct lz_front *f, uint64_t len, int prot, uint64_t *addr);
int lz_front_deallocate(struct lz_front *f, uint64_t addr);
struct lz_front_region {
	uint64_t start, end;
	int prot; /* PROT_* */
	bool mapped;
	const char *file; /* on this machine, [stack] or [heap]; NULL: none. Owned by the front */
};
/* The mapping, or the gap, in which ADDR lies. */
int lz_front_region(struct lz_front *f, uint64_t addr, struct lz_front_region *region);

/* ---- breakpoints: KIND is the digit of a Z packet ---- */
enum lz_front_kind { LZ_BREAK_SOFT, LZ_BREAK_HARD, LZ_WATCH_WRITE, LZ_WATCH_READ, LZ_WATCH_ACCESS };
/* A breakpoint at an address that is not mapped now is set as soon as it is. One that is there
 * already, of this kind, is replaced. */
int lz_front_insert(struct lz_front *f, enum lz_front_kind kind, uint64_t addr, uint64_t len);
/* A condition in GDB's bytecode (replayer/agent/agent.h); untrusted. */
struct lz_front_condition {
	const uint8_t *code;
	size_t len;
};
/* The same of a breakpoint by which runs pass where none of the N conditions holds. One that
 * cannot be evaluated holds: the debugger decides. Copied. Without effect before
 * lz_front_heed_conditions(). */
int lz_front_insert_if(struct lz_front *f, enum lz_front_kind kind, uint64_t addr,
                       const struct lz_front_condition *conditions, size_t n);
void lz_front_remove(struct lz_front *f, enum lz_front_kind kind, uint64_t addr, uint64_t len);
/* Which continues heed conditions, until this is called anew. GDB takes a breakpoint of its own,
 * with which it steps or finishes, for one with a condition that is at the same address: it would
 * miss the stop. */
enum lz_front_heed {
	LZ_HEED_NEVER,
	LZ_HEED_FIRST, /* the first one of a command that begins with it or a step over a breakpoint */
	LZ_HEED_ALL    /* all of such a command, which is no step */
};
void lz_front_heed_conditions(struct lz_front *f, enum lz_front_heed heed);
/* Which system calls stop a continue: none, the N of NRS, or, if N is 0, all. */
void lz_front_catch_none(struct lz_front *f);
void lz_front_catch(struct lz_front *f, const uint32_t *nrs, size_t n);
/* Signals that do not stop a continue (bit signo). */
void lz_front_pass_signals(struct lz_front *f, uint64_t mask);

/* ---- resuming ---- */
enum lz_front_how {
	LZ_RESUME_CONTINUE,
	LZ_RESUME_STEP,
	LZ_RESUME_RANGE, /* step until outside of start..end */
	/* the same of `piece`, over what that calls; steps in start..end if it is refused */
	LZ_RESUME_LEAVE,
};
struct lz_front_resume {
	enum lz_front_how how;
	enum lz_direction direction;
	uint32_t tid; /* the thread that steps, or that a move is made in; 0: the present one */
	/* a step over a breakpoint: no stop of other threads is shown before the next resume */
	bool alone;
	uint64_t start, end;           /* of the range */
	struct lz_piece_of_code piece; /* no signal goes by in one of lines */
};
enum lz_front_why {
	LZ_SHOWN_SIGNAL,      /* signo says all */
	LZ_SHOWN_BREAK,       /* at the user's breakpoint of `kind` */
	LZ_SHOWN_WATCH,       /* of `kind`, at addr */
	LZ_SHOWN_CALL_ENTRY,  /* before system call nr */
	LZ_SHOWN_CALL_RETURN, /* behind it */
	/* another program than before runs here: lz_front_program(). What else there is to tell is
	 * the next stop, be it asked for at once or behind a resume, which then moves nothing. */
	LZ_SHOWN_EXEC,
	LZ_SHOWN_BEGIN, /* no more history backwards */
	LZ_SHOWN_END    /* ... forwards */
};
struct lz_front_stop {
	enum lz_front_why why;
	int signo; /* Linux's; 0: stopped for no reason of the program's */
	enum lz_front_kind kind;
	uint64_t addr, nr;
	bool ran; /* after LEAVE: the piece was run through, not stepped */
};
/* A user's resume: carries out the armed move if there is one and this is a reverse resume, goes
 * on with a call in the diversion, or moves in time. What goes wrong becomes a note; there is
 * always a stop. */
void lz_front_resume(struct lz_front *f, const struct lz_front_resume *r);
/* The resume was interrupted before it began. */
void lz_front_not_resumed(struct lz_front *f);
/* Asked when no interrupt can come any more: one that came as the resume ended is part of the
 * stop. */
void lz_front_stop(struct lz_front *f, struct lz_front_stop *stop);
/* What the user must be told with the stop; malloced, NULL if nothing. Once. */
char *lz_front_note(struct lz_front *f);

/* ---- the present instant, and the recording ---- */
struct lz_front_instant {
	struct lz_pos pos;    /* n is 0 where counting may take long: lz_front_position() */
	uint64_t moves;       /* if it is, tells this instant from others */
	uint64_t events;      /* in all */
	uint64_t time, total; /* of the global time */
	bool at_start, at_end;
	bool at_begin; /* of the program */
	uint32_t n_threads;
	char thread[LZ_THREAD_TEXT]; /* the present one's name, for a terminal */
	/* the armed move leads into another program, which begins there; n = 0: it does not */
	struct lz_pos crosses;
	/* the last one that the program has made before, from 1 on, and its text, for a terminal;
	 * 0: none */
	uint64_t n_mark;
	char mark[LZ_MARK_TEXT];
};
int lz_front_now(struct lz_front *f, struct lz_front_instant *now);
/* Counted in any case. */
void lz_front_position(struct lz_front *f, struct lz_pos *pos);

/* Names are text for a terminal. */
struct lz_front_recording {
	char *recording, *program, *command, *cwd;
	char *damage; /* NULL: the recording is whole */
	const char *front_end;
	uint64_t started, duration_ns;
	uint64_t not_kept; /* the events before this one; 0: all are kept */
	int exit_status;   /* negative: the end is not in the recording */
	uint32_t n_checkpoints;
	/* the programs that the process ran one after another, and the present one from 1 on */
	char **programs;
	const struct lz_program *where; /* the same programs */
	uint32_t n_programs, n_program;
	bool inside; /* main began before the recording */
	bool instrumented;
	bool built; /* the program was built with lizard-cc, be it that its code has not run */
};
/* From any thread, while no other call goes on. */
int lz_front_describe(struct lz_front *f, struct lz_front_recording *info);
void lz_front_recording_free(struct lz_front_recording *info);

/* ---- moves that a debugger has no name for ---- */
enum lz_front_move_kind {
	LZ_MOVE_HERE, /* stays: for the stop that comes of it */
	LZ_MOVE_START,
	LZ_MOVE_END,
	LZ_MOVE_PERCENT,  /* of the run */
	LZ_MOVE_TIME,     /* n */
	LZ_MOVE_EVENT,    /* right after n events */
	LZ_MOVE_POSITION, /* pos */
	LZ_MOVE_JUMP,     /* to where control is at one of the addresses */
	LZ_MOVE_BACK_STEP,
	LZ_MOVE_BACK_NEXT, /* n times */
	LZ_MOVE_UNDO,      /* to where the user was n moves before: lz_front_here() */
	LZ_MOVE_REDO,
	LZ_MOVE_ACCESS, /* to right before an access to memory */
	LZ_MOVE_ORIGIN  /* to right before what put a value where it is */
};
enum { LZ_JUMP_ADDRS_MAX = 512, LZ_LOCAL_NAME = 128 };
struct lz_front_move {
	enum lz_front_move_kind kind;
	double percent;
	uint64_t n;
	struct lz_pos pos;
	/* Of a jump, and of the search for an access. */
	enum lz_direction direction;
	bool any_thread;
	size_t n_addrs;
	uint64_t addrs[LZ_JUMP_ADDRS_MAX];
	/* Of an access: 's' stored, 'l' loaded, 't' either; forwards what comes next here counts as well, or
	 * it does not; backwards no further than to `pos`, n = 0: to the begin, nor than to where control
	 * comes to `entry`, 0: nowhere, with the stack pointer `sp`. By code up to `code_end`, 0: by any. The
	 * memory is that of the variable `local` of the function at `entry`, "": it is not known. */
	char access;
	bool here;
	uint64_t addr, len, entry, sp, code_start, code_end;
	char local[LZ_LOCAL_NAME];
	/* Of an origin: that of `len` bytes at `addr`, be it in memory or, if it has a name, in register
	 * `reg`; len = 0: of the last conditional jump's choice. Or of those from number `addr` on that event
	 * number `n` takes; len = 0: to right before it. Or the allocation of `addr` by a malloc() that returns at `addrs`,
	 * no further back than to `pos`. Or the block of the heap that `addr` lies in, and nothing moves. */
	char reg[16];
	enum lz_origin_of { LZ_OF_VALUE, LZ_OF_EVENT, LZ_OF_ALLOCATION, LZ_OF_BLOCK } of;
};
/* M becomes the move to a place as users write it: here, start, end, N%, time T, event N, or a position. */
int lz_front_move_to(struct lz_front_move *m, const char *where);
/* The next reverse resume carries M out; M is copied. From any thread, while no other call goes on. */
int lz_front_arm(struct lz_front *f, const struct lz_front_move *m);
/* M becomes the move that TEXT says, as `monitor` takes it. */
int lz_front_move_parse(const char *text, struct lz_front_move *m);
/* From now on lz_front_outcome() is asked for what there is to say of a move: it is no note of the stop. */
void lz_front_quiet(struct lz_front *f);
/* The debugger is a GDB of the major version MAJOR: steps backwards are the reverses of that one's. */
void lz_front_follow_gdb(struct lz_front *f, unsigned major);
/* *NOTE: what there is to say of the last move, in lines; *FAILURE: why it could not be made. Both are malloced, or NULL.
 * Once. From any thread, while no other call goes on. */
void lz_front_outcome(struct lz_front *f, char **note, char **failure);
/* The user is shown the present instant, which ends a move of his. The last hundred are known. *RETURNED:
 * a continue backwards has found nothing and ended at the begin. */
void lz_front_here(struct lz_front *f, bool *returned);
/* PASS: a search begins. No signal stops a continue, whatever lz_front_pass_signals() says, and it
 * goes back no further than to the first instant of the present program. */
void lz_front_pass_all_signals(struct lz_front *f, bool pass);

/* ---- the same as text: what `monitor` takes; see replayer/front/monitor.c. Malloced. ---- */
char *lz_front_monitor(struct lz_front *f, const char *text);

/* ---- what ran ---- */
/* The stretches of one function each (lz_session_calls) around now: at first the present one and
 * SIZE - 1 behind it, or before it if SIZE is negative; then those behind, or before, what was
 * given last, until the next move. *CALLS is malloced; none where the recording ends. */
int lz_front_calls(struct lz_front *f, int64_t size, struct lz_history_call **calls, size_t *n);
/* The same from the one at TIME on, or up to it. */
int lz_front_calls_from(struct lz_front *f, uint64_t time, int64_t size,
                        struct lz_history_call **calls, size_t *n);
/* The one at FROM, and all that begin up to TO. */
int lz_front_calls_between(struct lz_front *f, uint64_t from, uint64_t to,
                           struct lz_history_call **calls, size_t *n);
/* The addresses of instructions in the same manner, in the order of time. The present one has
 * the number 0; *FIRST is the first one's. *ADDRS is malloced, NULL on failure. */
int lz_front_instructions(struct lz_front *f, int64_t size, uint64_t **addrs, size_t *n,
                          int64_t *first);
/* Numbers FROM to TO, as far as they exist. */
int lz_front_instructions_between(struct lz_front *f, int64_t from, int64_t to, uint64_t **addrs,
                                  size_t *n, int64_t *first);

/* ---- files and objects ---- */
/* Of the program that runs now. Owned by F; NULL if there is none. */
const void *lz_front_auxv(struct lz_front *f, size_t *len);
/* Of the signal that is about to be delivered, else of the last one that was. */
const void *lz_front_siginfo(struct lz_front *f, size_t *len);
/* The path of the program that runs now as text, which lz_front_open() takes as well as the path
 * itself. */
const char *lz_front_program(const struct lz_front *f);
/* The loaded libraries as GDB's library-list-svr4, each by the file that was mapped, as text.
 * malloced; NULL: the program has no list of them. */
char *lz_front_libraries(struct lz_front *f);
/* The same for a debugger that opens files itself, not by lz_front_open(): by where they are on this
 * machine as they were recorded, and without those that are not. */
char *lz_front_libraries_here(struct lz_front *f);
/* The program that runs now, likewise. malloced. */
char *lz_front_program_here(struct lz_front *f);
/* Where the program has the address of the loader's list; 0: it has no such place. */
uint64_t lz_front_loaders_list(struct lz_front *f);
/* KEEP: from now on libraries that were in the last list stay in it where they are not loaded
 * (yet, or any more). For a debugger that has an expression with their variables: see
 * docs/design/gdb.md. */
void lz_front_keep_libraries(struct lz_front *f, bool keep);
/* PATH as the recorded program saw it, or as the front shows it: /proc/PID/ made up from the
 * recording, else the recording's copy, else the host's file. Returns a descriptor that the
 * caller closes. */
int lz_front_open(struct lz_front *f, const char *path);
/* Where it leads; of /proc/PID/ that is text. malloced; NULL if it is no link or there is no such
 * file. */
char *lz_front_readlink(struct lz_front *f, const char *path);

#endif
