/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls that the program makes without a stop: docs/design/calls.md. */
#ifndef LIZARD_TRACER_FAST_H
#define LIZARD_TRACER_FAST_H

#include "tracer/state/tracer.h"

/* fast.c */
/* After a call with a stop, at its exit: may the thread go on without stops? */
int lz_fast_after_call(struct lz_tracer *t, struct user_regs_struct *r);
/* At the entry of one. */
int lz_fast_before_call(struct lz_tracer *t);
/* The current thread goes on: the request by which it does. */
int lz_fast_resume(struct lz_tracer *t, int request);
/* The current thread stands, or is gone: what it has done without a stop becomes events. */
int lz_fast_stopped(struct lz_tracer *t);
/* At a SIGSYS: 1 if the kernel has kept the thread from making a call without a stop. It makes it
 * again, with stops. */
int lz_fast_refused(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r);
/* At a SIGTRAP: 1 if it is one of ours. */
int lz_fast_trap(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r);
/* Does the thread with registers R stand in our code, of which no position is the name? */
bool lz_fast_inside(const struct lz_tracer *t, const struct user_regs_struct *r);
/* What the program is told of R.rip if it is there. */
uint64_t lz_fast_shown(const struct lz_tracer *t, const struct user_regs_struct *r);
/* All threads make their calls with a stop from now on, however they are resumed. */
void lz_fast_end(struct lz_tracer *t);
/* The current thread's calls are not reported any more. */
int lz_fast_undispatch(struct lz_tracer *t);
/* The address space is gone. */
void lz_fast_forget(struct lz_tracer *t);

/* fast_calls.c */
/* What the stub may do. */
void lz_fast_calls(struct lz_call_page *page);
/* May call NR be made without a stop? */
bool lz_fast_may(uint64_t nr);

/* fast_fds.c */
/* After a call with a stop: what its descriptor is good for. */
void lz_fast_fds_after(struct lz_tracer *t, int64_t result);
/* Before one: what it closes is not known any more. */
void lz_fast_fds_before(struct lz_tracer *t);

/* fast_code.c */
/* Before a call: code that it takes from the program is the program's own from now on. */
void lz_fast_give_code(struct lz_tracer *t);

/* fast_log.c */
/* Makes events of what is in the log. */
int lz_fast_drain(struct lz_tracer *t);

#endif
