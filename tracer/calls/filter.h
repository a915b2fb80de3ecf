/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters of system calls that the program installs: asked before each of its calls. */
#ifndef LIZARD_TRACER_FILTER_H
#define LIZARD_TRACER_FILTER_H

#include "tracer/state/tracer.h"

/* filter_calls.c */
/* At entry, as lz_answer_by_args(): of calls that install filters, or ask for them. */
bool lz_filter_answer(struct lz_tracer *t, int64_t *result);

/* filter.c */
/* At the entry of a call with registers R: true if the program's filters do not let it be made;
 * *result is given instead. */
bool lz_filter_call(struct lz_tracer *t, const struct user_regs_struct *r, int64_t *result);
/* The same call is to end its thread, and no other one. */
bool lz_filter_ends_thread(const struct lz_tracer *t);
/* Behind its exit: the signal with which the thread goes on, 0: none. -1: lz_error(). */
int lz_filter_signal(struct lz_tracer *t);
/* At the stop of signal SIGNO: is it that one? Then *INFO is what the program is told. */
bool lz_filter_signalled(struct lz_tracer *t, int signo, siginfo_t *info);

/* filter_release.c */
/* C is let go: the kernel gets the filters of thread TH, and no call can be made for it any more
 * that they do not allow. */
int lz_filters_release(const struct lz_tracer *t, const struct lz_thread *th, struct lz_proc *c);
/* For the next tracer of a process: sends them, takes them. */
int lz_filters_send(const struct lz_thread *th, int fd);
int lz_filters_take(struct lz_thread *th, int fd);

#endif
