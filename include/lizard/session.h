/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The debugger back-end as a library: a recording re-executed to any instant. It knows no debugger.
 *
 * A session is always at a position. Moving forward re-executes; moving backward restores a
 * checkpoint or a snapshot and re-executes. The recording is never changed. All functions return -1
 * or NULL with lz_error() set on failure. After LZ_STOP_DIVERGED only seeking, querying and closing
 * are useful.
 *
 * Threads run one at a time, so there is one line of time: at each position one thread runs,
 * pos.tid, and the others have registers to go on with. Calls without a tid mean the thread that
 * runs. The instant between a switch to a thread that is inside a system call and that call's
 * end has a position as well, though nothing can run there; moves end there only for a watched
 * change that the switch, or the call's end, makes. */
#ifndef LIZARD_SESSION_H
#define LIZARD_SESSION_H

#include <lizard/piece.h>
#include <lizard/recording.h>

struct lz_session;

struct lz_session_options {
	int echo_fd;      /* what the program writes to 1 and 2 is repeated here; -1: not */
	const char *stub; /* path of the replay stub, NULL = beside the running program */
	bool any_cpu;     /* on one that the thread may use, not on that of the recording */
};
/* At the first checkpoint. The session owns the reader that it opens. The calling thread does
 * without the time-stamp counter until the session is closed (common/base/clock.h). */
struct lz_session *lz_session_open(const char *dir, const struct lz_session_options *o);
void lz_session_close(struct lz_session *s);
/* Begins to read, in a thread beside this one, what going back needs to know of the whole marker
 * stream (its call stacks). Optional: without, the first move that needs it reads it. */
int lz_session_read_ahead(struct lz_session *s);
struct lz_reader *lz_session_reader(struct lz_session *s);

/* From here on runs stop where another program begins, or ended; jumps and steps back are made in
 * the present one. */
void lz_session_stop_at_programs(struct lz_session *s);

/* ---- what the program writes to 1 and 2 ---- */
struct lz_output_piece {
	uint64_t event; /* the call */
	uint32_t fd;
	uint8_t *bytes;
	size_t len;
};
struct lz_output {
	struct lz_output_piece *v;
	size_t n, bytes;
	bool cut; /* some is missing in front */
};
/* From here on runs and steps keep what they pass by, which spares lz_session_output() a replay. */
void lz_session_keep_output(struct lz_session *s);
/* What was written from event FROM on until now; if that is much, the last of it. The position
 * stays. */
int lz_session_output(struct lz_session *s, uint64_t from, struct lz_output *o);
void lz_output_free(struct lz_output *o);

/* ---- what calls are given ---- */
/* Events with the program's memory right before each. The session's own position stays. */
struct lz_arrival;
struct lz_visit {
	uint64_t from, to; /* numbers of events, TO not among them */
	/* Those that are of interest. Cheap: asked more than once of each. */
	bool (*wants)(void *arg, const struct lz_event *ev);
	/* Non-zero ends it, and is returned: not 1 or 2. */
	int (*fn)(void *arg, const struct lz_event *ev, struct lz_arrival *memory);
	/* Called now and then. Negative: it is to be interrupted. NULL. */
	int (*look)(void *arg);
	void *arg;
};
enum { LZ_VISIT_INTERRUPTED = -2 };
/* 0: all were seen, up to the end of the recording; -1: lz_error(). */
int lz_session_visit(struct lz_session *s, const struct lz_visit *of);

/* Has EV written bytes (write, send and their kin), to which descriptor? */
bool lz_written_to(const struct lz_event *ev, uint32_t *fd);
/* Calls TAKE for those bytes, piece by piece; non-zero ends it, and is returned. Fewer than the call's
 * result if memory does not hold them. */
int lz_written_each(const struct lz_event *ev, struct lz_arrival *memory,
                    int (*take)(void *arg, const uint8_t *bytes, size_t n), void *arg);
/* The same for where they are. */
int lz_written_ranges(const struct lz_event *ev, struct lz_arrival *memory,
                      int (*take)(void *arg, uint64_t addr, uint64_t len), void *arg);

/* ---- where ---- */
/* The program that runs now: its index in lz_reader_programs(). */
uint32_t lz_session_program(struct lz_session *s);
void lz_session_where(struct lz_session *s, struct lz_pos *pos);
/* The same, but n is 0 where it has not been counted: that may take a stop for each arrival. */
void lz_session_present(struct lz_session *s, struct lz_pos *pos);
/* Bytes of all threads' streams before now; and of the whole run. */
uint64_t lz_session_time(struct lz_session *s, uint64_t *total);
/* The events before the last instant. */
uint64_t lz_session_events(const struct lz_session *s);
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
	LZ_STOP_DIVERGED,
	/* of a session that stops between programs: the present one begins here (forward), or is
	 * about to execute the next one (backward) */
	LZ_STOP_EXEC,
	/* a step backwards: the thread begins here; backwards it has nothing more */
	LZ_STOP_THREAD_START,
	LZ_STOP_THREAD_END /* a step forwards: the thread has ended; where the next one goes on */
};
struct lz_stop {
	enum lz_stop_reason reason;
	struct lz_pos pos; /* in thread pos.tid; n = 0 where not counted: lz_session_where() does */
	uint32_t signo;
	uint64_t watch_addr; /* address given to lz_session_watch */
	char watch_kind;
};

/* Goes exactly there. A position that does not occur, or at which another thread runs, is an
 * error and leaves the session where it was. tid 0: whichever thread runs there. */
int lz_session_seek(struct lz_session *s, const struct lz_pos *pos);
int lz_session_seek_start(struct lz_session *s);
int lz_session_seek_end(struct lz_session *s);
/* The first instant with at least `time` marker bytes before it. */
int lz_session_seek_time(struct lz_session *s, uint64_t time);

/* Runs until a breakpoint, watchpoint, signal or an end of the history. A breakpoint at the present
 * position does not count. */
int lz_session_run(struct lz_session *s, enum lz_direction d, struct lz_stop *stop);
/* One instruction (a whole rep instruction; an event is part of its instruction) of the thread
 * that runs. Others whose turn comes before it is done run meanwhile; forwards, a breakpoint,
 * watchpoint or signal of theirs ends it. In forward direction a signal stops it before the
 * instruction; call again to take it. */
int lz_session_step(struct lz_session *s, enum lz_direction d, struct lz_stop *stop);
/* The same of any thread that is there. Backwards: to the last instant before now at which it
 * ran and stood at another instruction than now. */
int lz_session_step_thread(struct lz_session *s, uint32_t tid, enum lz_direction d,
                           struct lz_stop *stop);
/* The present, if thread TID runs; else the first instant of its next turn, or (LZ_BACKWARD) the
 * instant at which its last one ended: inside of a system call, that call's instruction. Does
 * not go there. 1: it has no such turn. */
int lz_session_turn(struct lz_session *s, uint32_t tid, enum lz_direction d, struct lz_pos *pos);
/* As step, repeated while control stays in [start, end); backward only as far as START, and a
 * return, breakpoint or signal ends it. */
int lz_session_step_range(struct lz_session *s, enum lz_direction d, uint64_t start, uint64_t end,
                          struct lz_stop *stop);

/* Out of a piece of the present frame's code: forwards until the present thread's control is
 * outside of it; or to a breakpoint, watchpoint or signal in it. 1: something would stop a run
 * there, or the piece is refused or not worth it: nothing has moved, and steps must do; an
 * interrupt that came on the way is still to be answered. -1: nothing has moved either. */
int lz_session_leave(struct lz_session *s, const struct lz_piece_of_code *piece,
                     struct lz_stop *stop);
/* Backwards, to the last instant at which it was outside, in the present activation. 1: the
 * same, or that is not certain. */
int lz_session_leave_back(struct lz_session *s, const struct lz_piece_of_code *piece,
                          struct lz_stop *stop);
/* May be called from a signal handler or another thread: the present run stops soon with
 * LZ_STOP_INTERRUPTED. What came before a request is forgotten when that begins, */
void lz_session_interrupt(struct lz_session *s);
/* ... but not from here on: */
void lz_session_keep_interrupts(struct lz_session *s);
/* Has there been an interrupt that no request has answered? Forgets it. A signal that a run
 * stopped for instead is told again. */
bool lz_session_take_interrupt(struct lz_session *s);
/* Signals that do not stop a run (bit signo). All stop at first. */
void lz_session_pass_signals(struct lz_session *s, uint64_t mask);
/* Functions that the debugger's `step` goes over, and so lz_session_back_step(). SKIPS stays the caller's,
 * and must stay until others are given. NULL: none. */
struct lz_skips;
void lz_session_skip(struct lz_session *s, const struct lz_skips *skips);
/* How many of the inlined calls that begin here `step` would not go down into for that reason. */
uint32_t lz_session_skipped_here(struct lz_session *s);

/* ---- breakpoints and watchpoints; counted per address and kind ---- */
int lz_session_break(struct lz_session *s, uint64_t addr);
int lz_session_unbreak(struct lz_session *s, uint64_t addr);
/* What a condition may look at: an arrival at its breakpoint, in the thread that arrives. */
int lz_arrival_regs(struct lz_arrival *a, struct user_regs_struct *r);
int lz_arrival_xstate(struct lz_arrival *a, uint8_t *buf, uint32_t *len);
size_t lz_arrival_read(struct lz_arrival *a, uint64_t addr, void *buf, size_t len);
/* Runs pass by the breakpoint at ADDR, which is there, where HOLDS says false; NULL: nowhere. While
 * somebody else has a breakpoint there as well, all arrivals count. */
typedef bool lz_condition(void *arg, uint64_t addr, struct lz_arrival *a);
int lz_session_condition(struct lz_session *s, uint64_t addr, lz_condition *holds, void *arg);
/* kind 'w' changed bytes, 'r' read, 'a' either: len 1..8 any alignment, longer for 'w'. By
 * instruction, and by what system calls are given and give: 's' stored, be it what was there before,
 * 'l' loaded, 't' either; an 'l' may be none, and be it because the decoder knows too little. */
int lz_session_watch(struct lz_session *s, uint64_t addr, uint64_t len, char kind);
int lz_session_unwatch(struct lz_session *s, uint64_t addr, uint64_t len, char kind);

/* ---- state ---- */
/* Breakpoints are not seen. Reads as much as the program could access, returns the count. */
size_t lz_session_read(struct lz_session *s, uint64_t addr, void *buf, size_t len);
int lz_session_regs(struct lz_session *s, struct user_regs_struct *r);
int lz_session_xstate(struct lz_session *s, uint8_t *buf, uint32_t *len);
struct lz_thread {
	uint32_t tid;
	bool running;      /* this one goes on when the session moves */
	bool in_call;      /* inside a system call; regs.rip is behind its instruction */
	bool fresh;        /* made by clone, has not run yet: stands behind it with the result 0 */
	uint64_t pos_addr; /* of its __lizard_pos; 0: not known */
};
/* The threads that are there now: the first one if it still is, then by tid; one at least.
 * malloced. */
int lz_session_threads(struct lz_session *s, struct lz_thread **threads, uint32_t *n);
/* Of any of them. */
int lz_session_thread_regs(struct lz_session *s, uint32_t tid, struct user_regs_struct *r);
int lz_session_thread_xstate(struct lz_session *s, uint32_t tid, uint8_t *buf, uint32_t *len);
/* malloced, sorted. */
int lz_session_vmas(struct lz_session *s, struct lz_vma **v, uint32_t *n);
/* The next event (index = where().event); NULL at the end of the log. Owned by the reader. */
const struct lz_event *lz_session_next_event(struct lz_session *s);

/* ---- diversions: a copy of the present that may be changed and run, then thrown away ---- */
struct lz_diversion;
struct lz_diversion *lz_diversion_new(struct lz_session *s);
void lz_diversion_free(struct lz_diversion *d);
/* Its registers, and what it runs, are those of thread TID from here on; at first the one that
 * runs. */
int lz_diversion_thread(struct lz_diversion *d, uint32_t tid);
/* Fresh memory at ADDR, where the copy must have none; and away again. */
int lz_diversion_map(struct lz_diversion *d, uint64_t addr, uint64_t len, int prot);
int lz_diversion_unmap(struct lz_diversion *d, uint64_t addr, uint64_t len);
int lz_diversion_write(struct lz_diversion *d, uint64_t addr, const void *buf, size_t len);
size_t lz_diversion_read(struct lz_diversion *d, uint64_t addr, void *buf, size_t len);
int lz_diversion_regs(struct lz_diversion *d, struct user_regs_struct *r);
int lz_diversion_set_regs(struct lz_diversion *d, const struct user_regs_struct *r);
int lz_diversion_xstate(struct lz_diversion *d, uint8_t *buf, uint32_t *len);
int lz_diversion_set_xstate(struct lz_diversion *d, const uint8_t *buf, uint32_t len);
/* Runs or steps until one of ADDRS, a signal, or exit. System calls: write to 1 and 2 is done on
 * echo_fd or stderr, memory mapping is real, what only looks (getpid, clock) is real, everything
 * else is -ENOSYS. */
int lz_diversion_run(struct lz_diversion *d, bool step, const uint64_t *addrs, size_t n_addrs,
                     struct lz_stop *stop);

/* ---- navigation from markers and CFG (docs/design/navigation.md) ---- */
/* The next or previous arrival at any of ADDRS, of thread TID or, if that is 0, any: found by
 * scanning the marker stream for pairs in the pre- and post-sets, then confirmed by
 * re-execution. Stops: TARGET, INTERRUPTED, DIVERGED. It fails, and stays where it was, if there is
 * none, where another program ends the search, or where TID is one of several and does not come
 * there. Breakpoints and watchpoints do not count. */
int lz_session_jump(struct lz_session *s, enum lz_direction d, uint32_t tid, const uint64_t *addrs,
                    size_t n, struct lz_stop *stop);
/* The exact inverses of GDB's step and next in the thread that runs, what others do in between
 * being skipped: to the instant from which `step` (`next`) leads here. Stops: STEP, START,
 * THREAD_START (at the thread's first instant), ... */
int lz_session_back_step(struct lz_session *s, struct lz_stop *stop);
int lz_session_back_next(struct lz_session *s, struct lz_stop *stop);

/* ---- what ran ---- */
/* One function's code, between one call or return and the next. Code without markers does not
 * appear: it counts to what called it. */
struct lz_history_call {
	uint64_t begin, end; /* stream offsets */
	uint64_t entry;      /* of the function; 0: none with markers had been called */
	uint32_t depth;      /* calls of functions with markers that were not over */
};
/* From the markers of thread TID (0: the one that runs), without re-executing: BEFORE stretches
 * before the one that stream offset TIME lies in, that one, and those behind it: AFTER in all.
 * Fewer where there are no more. *CALLS is malloced. */
int lz_session_calls(struct lz_session *s, uint32_t tid, uint64_t time, size_t before, size_t after,
                     struct lz_history_call **calls, size_t *n);
/* The addresses of N instructions before or after the present one, the nearest first, without
 * the SKIP nearest; *FOUND of them. From the markers where they tell, as they do in instrumented
 * code for the most part; else it re-executes and comes back to the present. */
int lz_session_instructions(struct lz_session *s, enum lz_direction d, size_t skip, size_t n,
                            uint64_t *addrs, size_t *found);

/* ---- verification ---- */
struct lz_verify_result {
	uint64_t markers, events, checkpoints, pages;
	uint64_t taken;   /* bytes that calls have written: compared by checksum */
	uint64_t hashed;  /* of the markers: compared by checksum */
	uint64_t spins;   /* continued from their checkpoint: that stretch was not run again */
	char *divergence; /* NULL = none; malloced text, source level where known */
};
/* Replays from start to end, comparing everything. PROGRESS may be NULL. */
int lz_session_verify(struct lz_session *s, struct lz_verify_result *res,
                      void (*progress)(void *arg, double fraction), void *arg);
/* Text about the last divergence; NULL if none. Owned by the session. */
const char *lz_session_divergence(struct lz_session *s);

/* ---- markers of which only checksums were recorded ---- */
/* Sessions do this by themselves. For others: lets lz_reader_markers() of R have them computed
 * again by replay, in the calling thread, which runs on the recording's CPU from then on. To be
 * freed before R is closed. */
struct lz_rebuild;
struct lz_rebuild *lz_rebuild_new(struct lz_reader *r);
void lz_rebuild_free(struct lz_rebuild *rb);
/* Nobody waits: what is kept beside the recording is packed well. It takes at most LIMIT bytes, 0: the
 * usual number. */
void lz_rebuild_ahead(struct lz_rebuild *rb, uint64_t limit);
/* Why not all that was computed could be kept there; NULL: all was. */
const char *lz_rebuild_not_kept(const struct lz_rebuild *rb);

#endif
