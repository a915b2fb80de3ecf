/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may run: threads by turns, processes that share memory one at a time. */
#ifndef LIZARD_TRACER_TURNS_H
#define LIZARD_TRACER_TURNS_H

#include "tracer/state/tracer.h"

/* threads.c */
/* The process's first one becomes the current one. */
int lz_threads_begin(struct lz_tracer *t);
void lz_thread_remove(struct lz_tracer *t, struct lz_thread *th);
void lz_threads_free(struct lz_tracer *t);
/* An execve leaves the current thread only, as the first one. */
void lz_threads_exec(struct lz_tracer *t);
/* At a clone's event: takes over the new thread, stopped. */
int lz_thread_born(struct lz_tracer *t, pid_t tid);
/* At the clone's exit: tells its event, if need be, that its RESULT means that thread. */
void lz_thread_born_as(struct lz_tracer *t, int64_t result);
/* Lets the current thread leave, at its exit's event: it was not the last one. */
int lz_thread_end(struct lz_tracer *t);
/* At a switch: what the kernel wrote when TH ended. */
int lz_thread_end_writes(struct lz_tracer *t, const struct lz_thread *th);

/* sched.c */
void lz_sched_begin(struct lz_tracer *t);
/* The next in the round that can run; NULL: nobody can. */
struct lz_thread *lz_sched_ready(const struct lz_tracer *t);
/* The one that gets the turn, if somebody can run. Chooses anew each time: ask once for each
 * switch. */
struct lz_thread *lz_sched_next(struct lz_tracer *t);
/* Should another thread go on, if that is possible here? */
bool lz_sched_due(const struct lz_tracer *t);
/* The same, and has the current one had time enough to come to a point by itself? */
bool lz_sched_overdue(struct lz_tracer *t, uint64_t now);
int lz_sched_turn(struct lz_tracer *t); /* the current thread's slice begins */

/* chaos.c */
void lz_chaos_begin(struct lz_tracer *t);
uint64_t lz_chaos_priority(struct lz_tracer *t);
struct lz_thread *lz_chaos_next(struct lz_tracer *t);
int lz_chaos_turn(struct lz_tracer *t);
int lz_chaos_watch(struct lz_tracer *t); /* the present buffer has changed */
int lz_chaos_unwatch(struct lz_tracer *t);
/* The turn ends behind a call, which is under way and returns there. */
int lz_chaos_over_call(struct lz_tracer *t, uint64_t return_at, uint64_t sp);
/* At a SIGTRAP: was it a breakpoint of ours? */
enum lz_chaos_trap {
	LZ_CHAOS_NONE,
	LZ_CHAOS_MARKER, /* the byte of the stream at which the turn is over has been written */
	LZ_CHAOS_RETURN, /* that call has returned */
	LZ_CHAOS_PASSED  /* another one has, of those that it has made */
};
enum lz_chaos_trap lz_chaos_trapped(struct lz_tracer *t, const struct user_regs_struct *r);
void lz_chaos_call(struct lz_tracer *t); /* one more system call */
bool lz_chaos_stuck(struct lz_tracer *t);
/* It has been stepped, which takes time: whether it is stuck is asked from here on. */
void lz_chaos_seen(struct lz_tracer *t);
/* The turn could not end where it was to: it ends at the next markers or the next call. */
int lz_chaos_soon(struct lz_tracer *t);

#endif
