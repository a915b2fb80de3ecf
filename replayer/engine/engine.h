/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine: one process that re-executes the recording from a checkpoint onwards, and is compared
 * with it on the way. Inside the replayer only; the session is built of engines.
 *
 * A *gap* is the stretch of execution from one event or marker to the next: it is named by (event,
 * marker), events applied and stream bytes written. A position is a gap, an address and a count
 * of arrivals there since the gap began. */
#ifndef LZ_REPLAYER_ENGINE_H
#define LZ_REPLAYER_ENGINE_H

#include "replayer/engine/answered.h"
#include "replayer/engine/contexts.h"
#include "replayer/stream/turns.h"
#include <common/process/cpuid_answers.h>
#include <common/recording/flowsum.h>
#include <lizard/proc.h>
#include <lizard/recording.h>
#include <lizard/sysfake.h>

enum lz_halt_flags {
	LZ_HALT_EVENT = 1,  /* the next event applies here (at a system call the registers are
	                           already those inside it): lz_engine_apply() */
	LZ_HALT_MARKER = 2, /* want_marker bytes are written, the last one just now */
	LZ_HALT_EXEC = 4,   /* arrived at want_ip */
	LZ_HALT_BREAK = 8,  /* arrived at one of the breakpoints */
	LZ_HALT_WATCH = 16, /* debug register 2 or 3 fired (`fired`), after the instruction */
	LZ_HALT_STEP = 32,  /* one instruction done */
	LZ_HALT_END = 64,   /* the last instant of the recording */
	LZ_HALT_INTERRUPT = 128,
	LZ_HALT_DIVERGED = 256, /* e->divergence says how */
	/* after an instruction that touched a guarded page at `fault`; comes together with WATCH */
	LZ_HALT_PAGE = 512,
	/* with EXEC or BREAK: a thread has its turn where its last one ended. It counts as an
	 * arrival of the gap, but was one before */
	LZ_HALT_GOES_ON = 1024,
	/* want.cpu_ns are over: in the middle of a gap, and maybe of a repeated instruction */
	LZ_HALT_SLICE = 2048
};

/* In eflags: the processor's, for a debugger; says nothing about the program. */
enum { LZ_FLAG_RF = 1 << 16 };

enum lz_end_kind {
	LZ_END_CALL,   /* exit_group: before its system call instruction */
	LZ_END_SIGNAL, /* a fatal signal: before it */
	LZ_END_CUT     /* nothing more is known: when `marker` bytes are written */
};

/* Where the recording ends: in the gap after `event` events. */
struct lz_end {
	enum lz_end_kind kind;
	uint64_t event, marker, ip;
};

/* Debug registers. */
struct lz_slot {
	uint64_t addr;
	/* as lz_proc_set_debug() */
	int len, kind;
};

struct lz_slots {
	/* as they are in the process */
	struct lz_slot set[4];
	/* wanted in slots 2 and 3 */
	struct lz_slot user[2];
};

/* A breakpoint is in a debug register, where the program cannot see it, or an int3 in a page that
 * the program cannot look at. */
struct lz_softbreak {
	uint64_t addr;
	uint8_t saved;
	/* as an int3 */
	bool in;
	/* its debug register; 0: none */
	int slot;
};

struct lz_softbreaks {
	struct lz_softbreak *v;
	size_t n;
	bool in;
	/* debug registers that were not free when they went in: bits */
	unsigned taken;
	/* the pages of those that are int3 are among the guarded ones */
	bool guarded;
};

/* What a page is guarded against. */
enum lz_guard_kind {
	LZ_GUARD_WRITES = 1, /* for a watchpoint */
	LZ_GUARD_READS = 2,  /* for a watchpoint that sees reads as well */
	LZ_GUARD_CODE = 4    /* an int3 is in it: only execution is left */
};

struct lz_guarded {
	uint64_t page;
	/* bits of enum lz_guard_kind */
	unsigned kind;
	bool in;
	/* as the program has it */
	uint32_t prot;
};

struct lz_guards {
	struct lz_guarded *v;
	size_t n;
};

/* Shared by all engines of a session. */
struct lz_replay {
	struct lz_reader *reader;
	struct lz_image *image;
	/* A buffer's worth each: what a process has written, and what is recorded. Too large for the
	 * stack of a thread. */
	uint8_t *got, *want;
	struct lz_end end;
	uint32_t tid; /* the first thread's, which names the stream */
	struct lz_cpuid_answers cpuid;
	uint64_t stream_len;
	struct lz_turns turns; /* empty until asked for: lz_replay_turns() */
	/* Whoever interrupts sets `interrupted` and then stops what is `running`; a run sets
	 * `running` and then looks at `interrupted`. */
	_Atomic bool interrupted;
	_Atomic pid_t running;        /* the process being waited for, 0 none */
	_Atomic uint64_t run;         /* counts resumes */
	_Atomic uint64_t patience_ms; /* CPU time that a run may take without any stop */
	_Atomic uint64_t stuck;       /* the run that took more and was stopped, 0 none */
	_Atomic uint64_t ticked;      /* the run that was stopped for `tick` only, 0 none */
	uint64_t ran_to;              /* the event that it was to come to */
	pid_t ran;                    /* its process */
	struct lz_watchdog *watchdog;
	/* Called after each stop, in a run without any twice a second; NULL. */
	void (*_Atomic tick)(void *arg);
	void *tick_arg;
	struct lz_prefetch *prefetch; /* while verifying; NULL */
	char *divergence;             /* text of the last one */
	bool diverged;                /* there was one since this was reset */
	/* Each system call has a stop: LIZARD_REPLAY_CALLS says so, or replay has diverged after
	 * calls were answered without one. The program can see that if it reads its own code and
	 * the processor has no protection keys. */
	bool stop_at_calls;
	bool always_answer;    /* also after that: LIZARD_REPLAY_CALLS says so */
	uint64_t answered;     /* calls without a stop */
	uint64_t spins_jumped; /* spins continued from their checkpoint, not re-run */
};

/* The block of the recorded stream that is being written. */
struct lz_flow_block {
	uint64_t start, end, at; /* AT: how far it has been compared */
	bool hashed;             /* only its checksum is recorded */
	bool whole;              /* it was seen from its start */
	struct lz_block_sum want;
	struct lz_flow_sum sum;
};

/* The buffer of markers that the program writes. */
struct lz_engine_buffer {
	uint64_t base;
	/* the stream offset of its first byte */
	uint64_t start;
	/* pos_offset is known */
	bool hello;
	uint64_t pos_offset;
	/* for an engine of which no copy is made: the ring at window_at is seen here */
	bool want_window;
	uint8_t *window;
	uint64_t window_at;
};

/* What a resume is to halt for. */
struct lz_engine_want {
	/* UINT64_MAX = none */
	uint64_t marker;
	/* 0 = none */
	uint64_t ip;
	/* of CPU time, about; 0 = any time */
	uint64_t cpu_ns;
};

/* How long it is (0: there is none), and after how long the process has an alarm; its CPU time when
 * the slice began, its registers when it was last resumed. */
struct lz_engine_slice {
	uint64_t ns, alarm_ns, set_ns, begin_ns;
	unsigned too_early; /* alarms, one behind the other */
	struct user_regs_struct regs;
};

/* Cache: the marker that ends at `end` starts at `start`. */
struct lz_engine_goal {
	uint64_t start, end;
	/* It is not stored: as if it were a single byte, until its payload shows otherwise. */
	bool guessed;
};

/* Cache: the next event, as far as running towards it needs it. */
struct lz_engine_next {
	/* whose cache it is; UINT64_MAX none */
	uint64_t event;
	/* comes from outside, at (marker, ip) */
	bool async;
	uint64_t marker, ip;
	uint32_t flags;
	/* of the arrival that is meant; see struct lz_event */
	bool has_state, has_pages;
	uint64_t state;
	uint32_t missed;
	uint32_t missed_page; /* the one that differed at the arrival before */
	/* for rp->patience_ms */
	uint64_t patience_ms;
};

/* Is given markers that are not stored, as they come; COMPLETE: with these the block is whole,
 * and right. */
struct lz_engine_tap {
	int (*fn)(void *arg, uint64_t at, const uint8_t *bytes, size_t len, bool complete);
	void *arg;
};

/* Where memory differed at the last comparison that failed, 0: nowhere; and what it should hold
 * there. */
struct lz_engine_miss {
	uint64_t addr;
	uint8_t want;
};

struct lz_engine {
	struct lz_replay *rp;

	/* the process */
	struct lz_proc proc;
	struct lz_space space;
	/* regs below: those of the running one */
	struct lz_contexts threads;
	struct user_regs_struct regs;
	bool regs_dirty;
	/* it is stopped inside an emulated system call */
	bool in_call;
	/* the running thread has ended: the next event is a switch */
	bool gone;
	/* the next event is the SIGTRAP of an int3 just executed */
	bool trapped;
	/* stopped by an interrupt: the present instruction's arrival is not yet seen */
	bool unsettled;

	/* where it is */
	/* applied so far */
	uint64_t event;
	/* stream bytes written and compared so far */
	uint64_t marker;
	/* of the last event applied, or of the checkpoint */
	uint64_t time_ns;
	/* arrivals compared with the present spin's checkpoint */
	uint64_t spin_hits;
	struct lz_engine_buffer buffer;
	struct lz_engine_goal goal;
	struct lz_engine_next next;

	/* what it halts for */
	struct lz_engine_want want;
	struct lz_engine_slice slice;
	struct lz_slots debug;
	struct lz_softbreaks breaks;
	struct lz_guards guarded;

	struct lz_engine_calls calls;

	/* comparing */
	struct lz_flow_block flow;
	struct lz_engine_tap tap;
	struct lz_engine_miss miss;

	/* of the instruction that touched a guarded page, before it was done (LZ_HALT_PAGE) */
	struct user_regs_struct guarded_regs;
};

struct lz_halt {
	unsigned flags;
	unsigned fired; /* bits of slots 2 and 3 as 0 and 1 */
	uint64_t fault; /* LZ_HALT_PAGE */
};

/* ---- life ---- */
int lz_replay_init(struct lz_replay *rp, struct lz_reader *r);
void lz_replay_free(struct lz_replay *rp);
/* At checkpoint INDEX. */
struct lz_engine *lz_engine_new(struct lz_replay *rp, uint32_t index);
/* A copy in a process of its own; breakpoints and wants are not copied. */
struct lz_engine *lz_engine_fork(struct lz_engine *e);
void lz_engine_free(struct lz_engine *e);

/* ---- one resume ---- */
/* Runs until something of enum lz_halt_flags; several at once are possible. Buffers that fill up
 * are taken, compared and emptied on the way. STEP: one instruction, a whole rep instruction, or
 * up to the event that the instruction makes. -1: the machinery failed (lz_error). */
int lz_engine_resume(struct lz_engine *e, bool step, struct lz_halt *h);
/* Applies the next event. Afterwards h->flags has LZ_HALT_EXEC or LZ_HALT_BREAK if control has
 * thereby arrived there. H may be NULL. */
int lz_engine_apply(struct lz_engine *e, struct lz_halt *h);

/* Calls have a stop again (calls.until is 0): the process has nothing of ours that the program
 * does not have. Does nothing if it is so. */
int lz_engine_calls_off(struct lz_engine *e);
/* At a call that is the next event: the bytes that it takes, if the recording knows them. 1:
 * diverged. */
int lz_engine_compare_taken(struct lz_engine *e);

/* The process's CPU time. */
uint64_t lz_engine_cpu_ns(const struct lz_engine *e);

/* ---- going to a position ---- */
/* They return 0; 1 if that does not occur (the engine is then somewhere behind); 2 if interrupted;
 * -1. */
/* From an earlier gap, or from its own start: to the start of gap (event, marker). */
int lz_engine_to_gap(struct lz_engine *e, uint64_t event, uint64_t marker);
/* Within the gap: on to the arrival number N at IP, of which SEEN have been counted (the present
 * one included). */
int lz_engine_to_arrival(struct lz_engine *e, uint64_t ip, uint32_t n, uint32_t seen);
/* From the start of a gap that an event ends, up to that event: how often control arrives at IP;
 * LZ_MANY: more than LIMIT times, which were not counted, as each costs a stop; -1. */
#define LZ_MANY INT64_MAX
int64_t lz_engine_count_to_event(struct lz_engine *e, uint64_t ip, int64_t limit);
/* From here to the end of the gap, wherever in it E stands: the same, the present instant included;
 * -1. */
int64_t lz_engine_count_in_gap(struct lz_engine *e, uint64_t ip);
/* The end of the marker after MARKER in the stream; UINT64_MAX if none is recorded. */
uint64_t lz_engine_next_marker(const struct lz_engine *e, uint64_t marker);
/* The same, UINT64_MAX also if it is not at hand. */
uint64_t lz_engine_next_kept(const struct lz_engine *e, uint64_t marker);

/* ---- threads (threads.c) ---- */
/* The one that runs. */
uint32_t lz_engine_tid(const struct lz_engine *e);
/* The running thread is inside a call, or has ended: the next event applies before anything
 * runs, and control is not at the address that the registers hold. */
bool lz_engine_in_kernel(const struct lz_engine *e);
/* Where the thread with these registers has its __lizard_pos; 0 before the hello call. */
uint64_t lz_engine_pos_addr(const struct lz_engine *e, const struct user_regs_struct *regs);
/* Not as recorded: thread TID goes on instead of the one that runs (diversions). */
int lz_engine_become(struct lz_engine *e, uint32_t tid);
/* The recording's turns; read when asked for first. NULL: failed. */
const struct lz_turns *lz_replay_turns(struct lz_replay *rp);

/* Does this event come from outside, when an address is arrived at (a signal, a switch)? */
bool lz_event_async(const struct lz_event *ev);
/* May control have come to this event's address before, in the same gap? */
bool lz_event_counted(const struct lz_event *ev);
/* Does this event come at an address that control has not arrived at before it (behind an int3)?
 * Then it counts as an arrival itself. */
bool lz_event_arrives(const struct lz_event *ev);

/* ---- state ---- */
/* Without the resume flag that replay itself sets. Valid until the next resume. */
const struct user_regs_struct *lz_engine_regs(struct lz_engine *e);
/* Memory without our breakpoints. */
size_t lz_engine_read(struct lz_engine *e, uint64_t addr, void *buf, size_t len);
/* The same up to memory that the program may not access (PROT_NONE). */
size_t lz_engine_read_allowed(struct lz_engine *e, uint64_t addr, void *buf, size_t len);
/* Breakpoints for the following resumes; replaced as a whole. They are in memory only while
 * running: call lz_engine_unbreak() before anything else looks at the process or copies it. */
int lz_engine_break(struct lz_engine *e, const uint64_t *addrs, size_t n);
void lz_engine_unbreak(struct lz_engine *e);
/* Puts them into memory, for who runs the process by itself. */
int lz_engine_insert(struct lz_engine *e);
/* Sets the debug registers of breakpoints and watchpoints, for the same. */
int lz_engine_arm_user(struct lz_engine *e);
/* Gives guarded pages their protection back (before the process is copied or compared). */
int lz_engine_unguard(struct lz_engine *e);
int lz_engine_guard(struct lz_engine *e);
/* The page that ADDR lies in; NULL: it is not to be guarded. */
const struct lz_guarded *lz_engine_guard_of(const struct lz_engine *e, uint64_t addr);
/* KIND: bits of enum lz_guard_kind. */
int lz_engine_add_guard(struct lz_engine *e, uint64_t page, unsigned kind);
/* Unguards, and drops all. */
int lz_engine_drop_guards(struct lz_engine *e);
/* Calls FN for the other addresses at which memory of [FROM, TO) is mapped; stops at non-zero and
 * returns it. */
int lz_engine_each_alias(const struct lz_engine *e, uint64_t from, uint64_t to,
                         int (*fn)(void *arg, uint64_t start, uint64_t end), void *arg);
bool lz_engine_has_break(const struct lz_engine *e, uint64_t addr);
/* Puts changed registers into the process. */
int lz_engine_flush(struct lz_engine *e);
/* Finishes an emulated system call so that lz_proc_syscall() may be used. */
int lz_engine_leave_call(struct lz_engine *e);
/* If the instruction at hand is a marker store that does not fit any more, takes the buffer now:
 * the state at such an instant is then the same on every way to it. */
int lz_engine_settle(struct lz_engine *e);

/* ---- comparing with checkpoints (verify.c, spins) ---- */
/* 0 = equal, 1 = different with *what set to a malloced text, -1 failed. WHOLE: all pages, not only
 * those that changed since the checkpoint before. *pages counts. */
int lz_engine_compare(struct lz_engine *e, uint32_t index, bool whole, uint64_t *pages,
                      char **what);
bool lz_regs_equal(const struct user_regs_struct *a, const struct user_regs_struct *b);
/* Says how NOW differs from what was RECORDED; false: it does not. */
bool lz_regs_difference(const struct user_regs_struct *now, const struct user_regs_struct *recorded,
                        char *what, size_t room);

/* ---- divergence ---- */
/* Keeps the text ("event 12, TID:...: WHAT") in rp->divergence, with the last events; returns 1. */
int lz_engine_diverge(struct lz_engine *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Text about a difference of the stream: the recorded stream from OFFSET on against GOT.
 * malloced. */
char *lz_describe_markers(struct lz_engine *e, uint64_t offset, const uint8_t *got, size_t len);

/* What is known about where the program is, when the markers from FROM to UPTO are not those
 * recorded. malloced. */
char *lz_describe_flow(struct lz_engine *e, uint64_t from, uint64_t upto);

#endif
