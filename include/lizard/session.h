/* The debugger back-end as a library: a recording re-executed to any instant. It knows no debugger.
 *
 * A session is always at a position. Moving forward re-executes; moving backward restores a
 * checkpoint or a snapshot and re-executes. The recording is never changed.
 * All functions return -1 or NULL with lz_error() set on failure. After LZ_STOP_DIVERGED only
 * seeking, querying and closing are useful.
 *
 * Threads: every call works on the thread of the position; tids are in all structures. */
#ifndef LIZARD_SESSION_H
#define LIZARD_SESSION_H

#include <lizard/recording.h>

struct lz_session;

struct lz_session_options {
	int echo_fd;      /* what the program writes to 1 and 2 is repeated here; -1: not */
	const char *stub; /* path of the replay stub, NULL = beside the running program */
};
/* At the first checkpoint. The session owns the reader that it opens. */
struct lz_session *lz_session_open(const char *dir, const struct lz_session_options *o);
void lz_session_close(struct lz_session *s);
/* Begins to read, in a thread beside this one, what going back needs to know of the whole marker stream (its call
 * stacks). Optional: without, the first move that needs it reads it. */
int lz_session_read_ahead(struct lz_session *s);
struct lz_reader *lz_session_reader(struct lz_session *s);

/* ---- where ---- */
void lz_session_where(struct lz_session *s, struct lz_pos *pos);
/* Bytes of all threads' streams before now; and of the whole run. */
uint64_t lz_session_time(struct lz_session *s, uint64_t *total);
bool lz_session_at_start(struct lz_session *s);
bool lz_session_at_end(struct lz_session *s);

/* ---- moving ---- */
enum lz_direction { LZ_FORWARD, LZ_BACKWARD };
enum lz_stop_reason {
	LZ_STOP_TARGET = 1, /* the wanted position or limit */
	LZ_STOP_STEP,       /* one instruction done */
	LZ_STOP_BREAKPOINT, /* control is at a breakpoint (a syscall catch point too) */
	LZ_STOP_WATCH,      /* forward: right after the change; backward: right before the
	                       instruction (or system call) that makes it */
	LZ_STOP_SIGNAL,     /* a signal of the recording is about to be delivered, signo */
	LZ_STOP_START,      /* no more history backwards */
	LZ_STOP_END,        /* ... forwards: the last instant, the process still exists */
	LZ_STOP_INTERRUPTED,
	LZ_STOP_DIVERGED
};
struct lz_stop {
	enum lz_stop_reason reason;
	struct lz_pos pos; /* n = 0 where it was not counted: lz_session_where() does */
	uint32_t signo;
	uint64_t watch_addr; /* address given to lz_session_watch */
	char watch_kind;
};

/* Goes exactly there. A position that does not occur is an error and leaves the session where it was. */
int lz_session_seek(struct lz_session *s, const struct lz_pos *pos);
int lz_session_seek_start(struct lz_session *s);
int lz_session_seek_end(struct lz_session *s);
/* The first instant with at least `time` marker bytes before it. */
int lz_session_seek_time(struct lz_session *s, uint64_t time);

/* Runs until a breakpoint, watchpoint, signal or an end of the history. A breakpoint at the present
 * position does not count. */
int lz_session_run(struct lz_session *s, enum lz_direction d, struct lz_stop *stop);
/* One instruction (a whole rep instruction; an event is part of its instruction). In forward
 * direction a signal stops it before the instruction; call again to take it. */
int lz_session_step(struct lz_session *s, enum lz_direction d, struct lz_stop *stop);
/* As step, repeated while control stays in [start, end); backward only as far as START, and a return, breakpoint or
 * signal ends it. */
int lz_session_step_range(struct lz_session *s, enum lz_direction d, uint64_t start, uint64_t end,
                          struct lz_stop *stop);
/* May be called from a signal handler: the present run stops soon with LZ_STOP_INTERRUPTED. */
void lz_session_interrupt(struct lz_session *s);
/* Signals that do not stop a run (bit signo). All stop at first. */
void lz_session_pass_signals(struct lz_session *s, uint64_t mask);

/* ---- breakpoints and watchpoints; counted per address and kind ---- */
int lz_session_break(struct lz_session *s, uint64_t addr);
int lz_session_unbreak(struct lz_session *s, uint64_t addr);
/* kind 'w' changed bytes, 'r' read, 'a' either. len 1..8 any alignment, longer for 'w'. */
int lz_session_watch(struct lz_session *s, uint64_t addr, uint64_t len, char kind);
int lz_session_unwatch(struct lz_session *s, uint64_t addr, uint64_t len, char kind);

/* ---- state ---- */
/* Breakpoints are not seen. Reads as much as is mapped, returns the count. */
size_t lz_session_read(struct lz_session *s, uint64_t addr, void *buf, size_t len);
int lz_session_regs(struct lz_session *s, struct user_regs_struct *r);
int lz_session_xstate(struct lz_session *s, uint8_t *buf, uint32_t *len);
/* malloced, sorted. */
int lz_session_vmas(struct lz_session *s, struct lz_vma **v, uint32_t *n);
/* The next event (index = where().event); NULL at the end of the log. Owned by the reader. */
const struct lz_event *lz_session_next_event(struct lz_session *s);

/* ---- diversions: a copy of the present state that may be changed and run, then thrown away ---- */
struct lz_diversion;
struct lz_diversion *lz_diversion_new(struct lz_session *s);
void lz_diversion_free(struct lz_diversion *d);
int lz_diversion_write(struct lz_diversion *d, uint64_t addr, const void *buf, size_t len);
size_t lz_diversion_read(struct lz_diversion *d, uint64_t addr, void *buf, size_t len);
int lz_diversion_regs(struct lz_diversion *d, struct user_regs_struct *r);
int lz_diversion_set_regs(struct lz_diversion *d, const struct user_regs_struct *r);
int lz_diversion_xstate(struct lz_diversion *d, uint8_t *buf, uint32_t *len);
int lz_diversion_set_xstate(struct lz_diversion *d, const uint8_t *buf, uint32_t len);
/* Runs or steps until one of ADDRS, a signal, or exit. System calls: write to 1 and 2 is done on echo_fd or
 * stderr, memory mapping is real, what only looks (getpid, clock) is real, everything else is -ENOSYS. */
int lz_diversion_run(struct lz_diversion *d, bool step, const uint64_t *addrs, size_t n_addrs,
                     struct lz_stop *stop);

/* ---- navigation from markers and CFG (design.md section 7) ---- */
/* The next or previous arrival at any of ADDRS: found by scanning the marker stream for pairs in the
 * pre- and post-sets, then confirmed by re-execution. Stops: TARGET, START, END, INTERRUPTED, DIVERGED; at
 * START and END the session is there. Breakpoints and watchpoints do not count. */
int lz_session_jump(struct lz_session *s, enum lz_direction d, const uint64_t *addrs, size_t n,
                    struct lz_stop *stop);
/* The exact inverses of GDB's step and next: to the instant from which `step` (`next`) leads here.
 * Stops: STEP, BREAKPOINT (prev only, inside a call stepped over), START, ... */
int lz_session_back_step(struct lz_session *s, struct lz_stop *stop);
int lz_session_back_next(struct lz_session *s, struct lz_stop *stop);

/* ---- what ran ---- */
/* One function's code, between one call or return and the next. Code without markers does not appear: it counts to what
 * called it. */
struct lz_history_call {
	uint64_t begin, end; /* stream offsets */
	uint64_t entry;      /* of the function; 0: none with markers had been called */
	uint32_t depth;      /* calls of functions with markers that were not over */
};
/* From the markers, without re-executing: BEFORE stretches before the one that stream offset TIME lies in, that one,
 * and those behind it: AFTER in all. Fewer where there are no more. *CALLS is malloced. */
int lz_session_calls(struct lz_session *s, uint64_t time, size_t before, size_t after,
                     struct lz_history_call **calls, size_t *n);
/* The addresses of N instructions before or after the present one, the nearest first, without the SKIP nearest; *FOUND of
 * them. Re-executes, and comes back to the present. */
int lz_session_instructions(struct lz_session *s, enum lz_direction d, size_t skip, size_t n,
                            uint64_t *addrs, size_t *found);

/* ---- verification ---- */
struct lz_verify_result {
	uint64_t markers, events, checkpoints, pages;
	uint64_t spins;   /* continued from their checkpoint: that stretch was not run again */
	char *divergence; /* NULL = none; malloced text, source level where known */
};
/* Replays from start to end, comparing everything. PROGRESS may be NULL. */
int lz_session_verify(struct lz_session *s, struct lz_verify_result *res,
                      void (*progress)(void *arg, double fraction), void *arg);
/* Text about the last divergence; NULL if none. Owned by the session. */
const char *lz_session_divergence(struct lz_session *s);

#endif
