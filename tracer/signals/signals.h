/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals of the program: known, held, released. */
#ifndef LIZARD_TRACER_SIGNALS_H
#define LIZARD_TRACER_SIGNALS_H

#include "tracer/state/tracer.h"

/* signals.c */
/* 1: the program does not see it, it is passed on at once: *DELIVER goes with the next
 * resumption, 0: nothing. */
int lz_signal_passes(struct lz_tracer *t, int signo, int *deliver);
/* Nothing of the thread's waits for an instant, or is on its way to a stop. */
bool lz_signal_none_due(const struct lz_thread *th);
/* Are there signals on their way to the current thread, all of them ignored? */
bool lz_signal_all_ignored(struct lz_tracer *t);
/* At a stop that is not a signal's: has the instruction faulted, and its signal is what comes
 * next? */
bool lz_signal_fault_pending(struct lz_tracer *t);
int lz_signal_arm(struct lz_tracer *t);     /* waits for a marker or a system call */
int lz_signal_release(struct lz_tracer *t); /* sends what is held again, to arrive here */
/* The same at a system call's entry stop, where no call can be made for the program. */
int lz_signal_release_in_call(struct lz_tracer *t);
void lz_signal_call_done(struct lz_tracer *t, int64_t result); /* rt_sigaction and its kin */
int lz_signal_exec(struct lz_tracer *t);
int lz_signal_init(struct lz_tracer *t);
/* At a signal's stop: sends it once more, to arrive when the thread goes on. */
int lz_signal_put_back(struct lz_tracer *t, int signo);
/* At a signal's stop: holds it if it is an asynchronous one for the program, else gives 1. */
int lz_signal_hold_stop(struct lz_tracer *t, int signo);
/* Puts back what the kernel changed when it forced a SIGSEGV or SIGTRAP of our own making. */
int lz_signal_undo_force(struct lz_tracer *t, int signo);
/* The program's handler, or SIG_DFL or SIG_IGN. */
uint64_t lz_signal_handler(const struct lz_tracer *t, int signo);
bool lz_signal_ignored(const struct lz_tracer *t, int signo);
/* Ignored, or a stop by default: the program does not see it. */
bool lz_signal_unseen(const struct lz_tracer *t, int signo);
/* An instruction's own. */
bool lz_signal_synchronous(int signo, const siginfo_t *info);
/* As above. */
int lz_signal_pass(struct lz_tracer *t, int signo, siginfo_t *info, int *deliver);
/* Until the next instant, for which a fence is put up; without one, as the program may have to
 * finish a marker first. */
int lz_signal_hold(struct lz_tracer *t, int signo, const siginfo_t *info);
int lz_signal_keep(struct lz_tracer *t, int signo, const siginfo_t *info);
/* Blocks it up to the next stop, if that can be done: the program does not notice, and comes on. */
int lz_signal_shut(struct lz_tracer *t, int signo);
int lz_signal_open(struct lz_tracer *t);
/* From now on an instant is waited for. */
void lz_signal_await(struct lz_thread_signals *s);
/* Of a signal that we have sent again: what it was. Is it one? */
bool lz_signal_find_sent(struct lz_tracer *t, int signo, siginfo_t *info);

/* finish_marker.c */
/* Runs the program up to the end of the marker that it is in the middle of. 1: it did not fit,
 * the buffer was taken. */
int lz_finish_marker(struct lz_tracer *t, struct user_regs_struct *r);

/* leave_rep.c */
/* Is a repeated string instruction at ADDR? */
bool lz_at_rep(const struct lz_tracer *t, uint64_t addr);
/* Runs to the end of a repeated string instruction, if *r is at one. */
int lz_leave_rep(struct lz_tracer *t, struct user_regs_struct *r);

#endif
