/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The session's own state; for the session's files and navigation. */
#ifndef LZ_REPLAYER_SESSION_H
#define LZ_REPLAYER_SESSION_H

#include "replayer/session/quiet.h"
#include "replayer/engine/engine.h"
#include <common/base/progress.h>
#include <lizard/session.h>

enum {
	LZ_SNAPSHOTS = 16,
	LZ_BOUNDS = 512,
	LZ_BOUND_EVERY = 4096,
	LZ_TRAIL_COUNTS = 32,
	LZ_LONG_GAP = 20000,
	LZ_LATEST = 8192 + 1
};

/* The arrivals that led to the present instant, which is the last one: from the gap's start if
 * `whole`, else from `anchor`, a position whose count is known or (n = 0) too high to be counted
 * before that is asked for: at `place`, or right before the event that ends its gap. */
struct lz_trail {
	bool whole;
	struct lz_pos anchor;
	/* A copy that stands at the anchor, which is not counted; NULL: it is, or it stands right before
	 * its gap's event. */
	struct lz_engine *place;
	uint64_t *ips;
	size_t n, room;
	size_t too_long; /* steps that were not enough to make it whole */
	struct lz_trail_count {
		uint64_t ip;
		int64_t n;
	} counts[LZ_TRAIL_COUNTS]; /* arrivals up to the anchor, where it was counted */
	unsigned n_counts;
};

/* The instants before AT in a gap that is too long for a trail: the last ones of N that were noted, the
 * next one over the oldest. */
struct lz_latest {
	struct lz_pos at;
	uint64_t *ips; /* LZ_LATEST of them, or NULL: none yet */
	size_t n;
	bool whole; /* from the gap's start on */
};

/* A copy of the process at the start of its gap (e->event, e->marker). */
struct lz_snapshot {
	struct lz_engine *e;
};

struct lz_user_break {
	uint64_t addr;
	uint32_t count;
	/* NULL: every arrival counts */
	lz_condition *holds;
	void *arg;
	/* arrivals that a run forwards went past, in the gap of the last of them */
	struct lz_passed {
		uint64_t event, marker, n;
	} passed;
};

struct lz_user_watch {
	uint64_t addr, len;
	char kind;
	uint32_t count;
	uint8_t *value; /* last seen, with zeroes for what could not be read, */
	uint64_t seen;  /* which is all from this byte on */
	/* of a kind that counts touches: only those by this code count; end = 0: all */
	struct lz_code_range {
		uint64_t start, end;
	} code;
};

/* Numbers of events, in order. */
struct lz_event_list {
	uint64_t *v;
	size_t n, room;
};

/* On the way back to an instant with a name interrupts are only noted. */
enum lz_hearing { LZ_HEARS, LZ_DEAF, LZ_CALLED };

struct lz_session {
	struct lz_replay rp;
	struct lz_session_options opt;
	struct lz_engine *e; /* the present; NULL only if even the start could not be built again */
	/* within a request made of others: no interrupt is forgotten between them */
	unsigned nested;
	_Atomic(enum lz_hearing) hearing;
	struct lz_pos pos; /* exact; n = 0: not counted yet, see lz_session_name */
	uint64_t moves;    /* how often that has become another one */
	bool at_end;
	bool away; /* the engine has left pos: no base for its gap */
	bool lost; /* the engine has diverged: no base at all */
	struct lz_trail trail;
	struct lz_latest latest;
	struct lz_snapshot snap[LZ_SNAPSHOTS];
	struct lz_progress progress;
	uint64_t last_kept_ms;
	uint64_t limit;   /* a run forwards ends when so many marker bytes are written; 0: none */
	uint64_t planned; /* the next marker at which a run may keep a copy; UINT64_MAX none */
	uint64_t bounds[LZ_BOUNDS]; /* marker boundaries, one per LZ_BOUND_EVERY; 0 = none */
	struct lz_user_break *breaks;
	size_t n_breaks;
	uint64_t false_arrivals; /* those at which a condition was false */
	struct lz_quiets quiets;
	struct lz_user_watch *watches;
	size_t n_watches;
	uint64_t pass_signals;
	const struct lz_skips *skips;
	struct lz_rebuild *rebuild; /* NULL: all markers are stored */
	/* Of a user of the session that lives as long as it does: navigation. NULL until used. */
	void *companion;
	void (*free_companion)(void *companion);
	struct lz_event_list signals, remaps; /* remaps: what changes mappings */
	bool listed;                          /* the lists are made */
	uint64_t signal_told;                 /* 1 + index of the SIGNAL event already reported */
	/* 1 + index of the event that a backward run must not pass by, a SIGNAL or an execve; 0:
	 * none */
	uint64_t back_to;
	struct lz_gap_start not_before; /* a backward run looks no further back; zero: it does */
	bool by_program;                /* lz_session_stop_at_programs() */
	bool keeps_output;
	struct lz_output passed; /* since lz_session_output() was asked */
};

/* ---- interrupts (session.c) ---- */
/* At the beginning of a request: those that came before the user asked for anything are not
 * meant for it. */
void lz_session_begin(struct lz_session *s);
/* Between these two they are not answered. */
void lz_session_deafen(struct lz_session *s);
void lz_session_hear(struct lz_session *s);

/* Shows on a terminal how long WHAT takes, until the same is called with NULL. */
void lz_session_progress(struct lz_session *s, const char *what);

/* ---- the present (position.c) ---- */
/* The engine s->e stands at the n-th arrival of its address; START: at its gap's start. */
void lz_session_arrived(struct lz_session *s, uint32_t n, bool start);
/* The same somewhere in its gap, with more arrivals before than are worth counting now. */
int lz_session_arrived_uncounted(struct lz_session *s);
/* The same at a signal that an instruction raises. */
int lz_session_arrived_at_event(struct lz_session *s);
/* The present position, counted unless that may take long: then n is 0. */
void lz_session_known(struct lz_session *s, struct lz_pos *pos);
/* To where COPY stands, of which nobody has counted the arrivals. */
int lz_session_to_copy(struct lz_session *s, struct lz_engine *copy);
/* Is the present instant right before its gap's event, and was it too far to be counted? */
bool lz_session_uncounted(const struct lz_session *s);
/* The engine s->e made one step within or out of the present gap. */
int lz_session_stepped(struct lz_session *s);
/* Counts pos.n if that was not done yet. */
int lz_session_name(struct lz_session *s);
/* How often control has been at IP since the gap began, the present instant included. -1:
 * failed. */
int64_t lz_session_count(struct lz_session *s, uint64_t ip);
/* Makes the trail whole if the gap is not longer than LIMIT steps. 1: it is longer. *BEFORE: an
 * engine at the instant before the present one, if that came for free; else NULL. */
int lz_session_whole_trail(struct lz_session *s, size_t limit, struct lz_engine **before);
/* Is the present instant the start of its gap? */
bool lz_session_at_gap(const struct lz_session *s);
/* Puts E in the place of the present engine. */
void lz_session_replace(struct lz_session *s, struct lz_engine *e);
/* Goes back to where it was after a failed move. */
int lz_session_restore(struct lz_session *s, const struct lz_pos *pos);

/* To the start of a gap. */
int lz_session_seek_gap(struct lz_session *s, uint64_t event, uint64_t marker);

/* ---- gaps (gaps.c, snapshot.c) ---- */
/* A new engine at the start of the gap: from the present one (copied), a snapshot or a
 * checkpoint, taking snapshots on the way. NULL: failed, or *ret = 1 no such gap, 2 interrupted. */
struct lz_engine *lz_session_engine_at(struct lz_session *s, uint64_t event, uint64_t marker,
                                       int *ret);
/* The start of the last gap up to GAP that an engine can be had at without a run. Zero: none is
 * known. */
struct lz_gap_start lz_session_base(struct lz_session *s, struct lz_gap_start gap);
/* Keeps a copy of E, which stands at the start of its gap. */
int lz_snapshot_keep(struct lz_session *s, struct lz_engine *e);
/* The same, if enough time has passed since the last one. */
int lz_snapshot_maybe(struct lz_session *s, struct lz_engine *e);
/* In a long run: the marker behind which to ask again. UINT64_MAX: none. */
uint64_t lz_snapshot_plan(struct lz_session *s, struct lz_engine *e);
/* Was the checkpoint taken at the very start of its gap? */
bool lz_checkpoint_starts_gap(struct lz_session *s, const struct lz_checkpoint *ck);
/* The last marker boundary at or before OFFSET. -1: failed. */
int64_t lz_marker_boundary(struct lz_session *s, uint64_t offset);
/* The same where the markers are at hand; else, since any will do, the start of their block. */
int64_t lz_marker_boundary_near(struct lz_session *s, uint64_t offset);
/* The start of the block that OFFSET lies in: a boundary that is known without reading the
 * block. */
int64_t lz_block_start(struct lz_session *s, uint64_t offset);
/* The gap that begins when MARKER is written (a boundary) and all events before that are
 * applied. */
uint64_t lz_gap_event(struct lz_session *s, uint64_t marker);

/* ---- moves (run.c, step_back.c) ---- */
void lz_session_fill(struct lz_session *s, struct lz_stop *stop, enum lz_stop_reason reason);
/* Begins a request that moves. -1: no move is possible. */
int lz_session_begin_move(struct lz_session *s);
int lz_session_run_forward(struct lz_session *s, struct lz_stop *stop);
int lz_session_step_forward(struct lz_session *s, uint32_t tid, struct lz_stop *stop);
int lz_session_step_back(struct lz_session *s, uint32_t tid, struct lz_stop *stop);
/* Back by up to N instructions at once, as many as lie behind the start of the gap: how many; IPS:
 * their addresses, the nearest first. 0: none, or it was interrupted. */
ssize_t lz_session_back_in_gap(struct lz_session *s, size_t n, uint64_t *ips);
/* Back over the instants at which a thread only got its turn again. */
int lz_session_to_turn_before(struct lz_session *s);
/* To the start, for the want of anything before; not at all. Both return 0 or -1. */
int lz_session_stop_start(struct lz_session *s, struct lz_stop *stop);
int lz_session_stop_interrupted(struct lz_session *s, struct lz_stop *stop);

/* ---- threads (threads.c) ---- */
struct lz_turn_end {
	/* the last instant: at the instruction of a system call that does not return in it */
	struct lz_pos pos;
	bool in_call, ended;
};
/* The end of the last turn of thread TID before the one that an instant after EVENT events lies
 * in. 1: there is none. */
int lz_session_turn_before(struct lz_session *s, uint32_t tid, uint64_t event,
                           struct lz_turn_end *end);

/* ---- programs (session.c) ---- */
/* Of a session that stops between them: 1 + the index of the execve that the present one began
 * with; else 0. */
uint64_t lz_session_program_begin(struct lz_session *s);

/* ---- events to look for (event_lists.c) ---- */
/* Does a run stop for this event, which is a signal? */
bool lz_session_tells(const struct lz_session *s, const struct lz_event *ev);
/* *ONE_MORE: 1 + the index of the last event before EVENT that a run stops for; 0: there is
 * none. */
int lz_session_signal_before(struct lz_session *s, uint64_t event, uint64_t *one_more);
/* 1: of the events from number FROM up to TO, exclusive, one changes the mappings of a watchpoint.
 * -1. */
int lz_session_remapped_between(struct lz_session *s, uint64_t from, uint64_t to);

/* ---- breakpoints (breaks.c) ---- */
/* E has arrived at a breakpoint: does its condition hold? */
bool lz_session_holds(struct lz_session *s, struct lz_engine *e);
/* The present engine has arrived at a breakpoint in a run forwards: is its condition false? Counts
 * it then; and how many of these there were in its gap so far. */
bool lz_session_goes_past(struct lz_session *s);
uint64_t lz_session_gone_past(const struct lz_session *s);
/* Has one of the breakpoints a condition? */
bool lz_session_conditional(const struct lz_session *s);

/* ---- watchpoints (watch.c) ---- */
/* Does EV map memory of the watchpoint, unmap or protect it? */
bool lz_watch_remapped(const struct lz_user_watch *w, const struct lz_event *ev);
/* Debug registers for the session's watchpoints; reads the present values from E. */
int lz_watch_arm(struct lz_session *s, struct lz_engine *e);
/* What changed or was touched since the last call: the watchpoint, or NULL. Whether memory can be
 * read is part of its value. H: the stop's, NULL after an event. */
struct lz_user_watch *lz_watch_check(struct lz_session *s, struct lz_engine *e,
                                     const struct lz_halt *h);
/* Does EV touch what W, of a kind that counts touches, watches? MEMORY is that around it. */
bool lz_watch_event(const struct lz_user_watch *w, const struct lz_event *ev,
                    struct lz_arrival *memory);
/* Must each call be looked at, for what it is given? */
bool lz_watch_looks(const struct lz_session *s);

/* ---- scanning a stretch of the run (scan.c): reverse-continue, navigation ---- */
struct lz_scan_end {
	uint64_t event, marker;   /* up to this gap's start, exclusive, */
	const struct lz_pos *pos; /* or, if set, up to this position in it, */
	bool gap_ends;            /* or up to where this gap ends */
};
struct lz_scan_what {
	const uint64_t *addrs; /* breakpoints */
	size_t n;
	bool watch; /* the session's watchpoints */
	bool
	    conditions; /* arrivals at which the session's breakpoint has a false one are no hits */
	uint64_t most;  /* hits, and stops for what is watched; 0: any number */
	uint64_t slice_ns; /* CPU time after which FN is called, again and again; 0: never */
};
enum lz_hit_kind { LZ_HIT_BREAK, LZ_HIT_WATCH, LZ_HIT_EVENT_WATCH, LZ_HIT_SLICE };
struct lz_hit {
	enum lz_hit_kind kind;
	/* BREAK: exact. WATCH: ip behind the instruction, n: which change of the gap it is, from 1.
	 * EVENT_WATCH: the gap and event that wrote */
	struct lz_pos pos;
	/* pos.n counts from this instant in the middle of the gap; NULL: from the gap's start */
	struct lz_engine *from;
	uint64_t watch_addr;
	char watch_kind;
};
/* Runs E, which stands at the start of its gap or as lz_scan() left it, up to END; calls FN for each
 * hit in order (the start included, the end not); FN's non-zero result ends the scan and is
 * returned. 0: reached the end. -1 failed, LZ_SCAN_*. */
enum {
	LZ_SCAN_INTERRUPTED = -2,
	LZ_SCAN_DIVERGED = -3,
	LZ_SCAN_PAST = -4, /* END does not occur */
	LZ_SCAN_MANY = -5  /* there were so many stops */
};
int lz_scan(struct lz_session *s, struct lz_engine *e, const struct lz_scan_end *end,
            const struct lz_scan_what *what, int (*fn)(void *arg, const struct lz_hit *hit),
            void *arg);

/* ---- the last hit of a stretch (scan_last.c) ---- */
struct lz_last {
	bool any;
	struct lz_hit hit;
	struct lz_engine *from; /* the hit's; to be freed */
};
/* The last hit between E, which stands at the start of its gap and is used up, and END, without
 * the SKIP last ones. As lz_scan(), but takes about as long as the stretch without any stops. */
int lz_scan_last(struct lz_session *s, struct lz_engine *e, const struct lz_scan_end *end,
                 const struct lz_scan_what *what, uint64_t skip, struct lz_last *last);
/* END: up to the present instant; or, where that is far behind its gap's start, to the gap's end
 * without the last *SKIP hits. As lz_scan(). */
int lz_scan_end_here(struct lz_session *s, const struct lz_scan_what *what, struct lz_scan_end *end,
                     uint64_t *skip);

/* ---- from a hit to a position (resolve.c, step_back.c) ---- */
/* The position of a hit: for a watched change, that of the instruction or system call that makes
 * it. Its n counts from where the hit's does. 0; 2 interrupted; -1. */
int lz_session_resolve(struct lz_session *s, const struct lz_hit *hit, struct lz_pos *to);
/* To the position of a hit as the one above says it. */
int lz_session_to_hit(struct lz_session *s, const struct lz_hit *hit, const struct lz_pos *to);
/* The event before number EVENT; NULL if there is none, or it was not kept. */
const struct lz_event *lz_session_event_before(struct lz_session *s, uint64_t event);
/* The last instant before an event, which for a system call is its instruction. The same
 * results. */
int lz_session_before_event(struct lz_session *s, const struct lz_event *ev, struct lz_pos *to);

#endif
