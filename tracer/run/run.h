/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's stops, and what is done at each: tracer/run/. */
#ifndef LIZARD_TRACER_RUN_H
#define LIZARD_TRACER_RUN_H

#include "tracer/state/tracer.h"

/* own_signals.c */
/* LZ_WAKE has come since it was set to 0. */
extern volatile sig_atomic_t lz_alarmed;
/* For the tracer itself: what it passes on to PID, what it ignores. FIRST: it is the one that the
 * user has started. */
void lz_set_signals(pid_t pid, bool first);
/* The program is gone: nothing is passed on any more. */
void lz_signals_done(void);

/* describe.c */
/* Fills t->meta. CWD is taken over. */
int lz_describe(struct lz_tracer *t, char **argv, char **envp, char *cwd);

/* trace.c */
/* Tells the new writer. */
int lz_what_to_keep(struct lz_tracer *t);
/* The new writer packs on other CPUs than the program's. */
void lz_writer_beside(struct lz_tracer *t);
/* From the first checkpoint to the finished recording; frees T's parts. */
int lz_trace_to_end(struct lz_tracer *t, struct lz_trace_result *result);

/* switch.c */
/* Hands the turn to NEXT and logs it. IN_CALL: the current thread is inside a call, asleep. */
int lz_switch(struct lz_tracer *t, struct lz_thread *next, bool in_call);

/* turn.c */
/* Waits, with more than one thread. 0: *status is a stop of the current thread or the process's
 * end; 1: another thread has got the turn, and stands. */
int lz_turn_wait(struct lz_tracer *t, int *status);
/* The current thread is in a group stop: whoever stands without the turn takes part in it. */
int lz_turn_halt(struct lz_tracer *t);
/* Another thread, or another process, may go on here: lets it, if its time has come. */
int lz_turn_at_point(struct lz_tracer *t);

/* takeover.c */
struct lz_spawned;
/* What a tracer does that was asked for (follow/spawner.h). 0; -1: lz_error(). */
extern const struct lz_next_tracer lz_followed_tracer;
/* Ends the recording; the process is another program now, which has one of its own. */
int lz_next_recording(struct lz_tracer *t);

/* launch.c */
/* Forks, seizes and goes up to the first execve. */
int lz_launch(struct lz_tracer *t);
/* Puts the tracer on one CPU; t->borrowed.given is what it had. */
void lz_pin(struct lz_tracer *t);

/* mover.c */
/* A thread will move the calling one and the program, together, to a CPU that is idle when others
 * crowd theirs. It starts when the program has run for a while, */
void lz_mover_begin(struct lz_tracer *t);
/* at one of these; which must come every MS at most, or as often as this says. */
void lz_mover_tick(struct lz_tracer *t);
long lz_mover_timer(const struct lz_tracer *t, long ms);
/* Nothing is moved any more. Without a mover: nothing to do. */
void lz_mover_stop(struct lz_tracer *t);

/* loop.c */
int lz_loop(struct lz_tracer *t);
/* After LZ_WAKE. */
int lz_tick(struct lz_tracer *t);
/* If the writer has begun to keep only checksums of markers: says so. */
int lz_tell_hash(struct lz_tracer *t);
/* Has the program ended behind our back? Then *status is set. */
bool lz_process_gone(struct lz_tracer *t, int *status);

/* deliver.c */
/* A signal has stopped the program. *DELIVER: what it is to go on with. */
int lz_signal_stop(struct lz_tracer *t, int signo, int *deliver);
/* Neither a marker nor a system call has come in time. */
int lz_signal_spin(struct lz_tracer *t, struct user_regs_struct *r);
/* A brief wait is over. */
int lz_signal_brief_over(struct lz_tracer *t, struct user_regs_struct *r);

/* walk_on.c */
/* With chaos, at a point at which the turn is over: steps on to where it is to end. 1: the program
 * stands at an instant; 0: another point must do; -1. */
int lz_walk_on(struct lz_tracer *t);

/* anywhere.c */
/* The program stands at any instruction, with registers R. 1: a position names this instant, which is
 * now the one that lz_at_instant() tells; 0. */
int lz_anywhere(struct lz_tracer *t, struct user_regs_struct *r);
/* The same in code without markers, by all that the program has written to lately. It takes some
 * time. */
int lz_anywhere_unmarked(struct lz_tracer *t, struct user_regs_struct *r);
/* May the next marker not fit into the buffer? */
bool lz_may_not_fit(struct lz_tracer *t);
/* Can the instant with registers R be named at all? */
bool lz_may_end_at(struct lz_tracer *t, const struct user_regs_struct *r);

/* detach.c */
/* The program goes on without us; t->status is how it ended, if it is a child of ours. */
int lz_detach(struct lz_tracer *t);

#endif
