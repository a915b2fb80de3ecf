/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children: watched, set free, or handed to a tracer of their own. */
#ifndef LIZARD_TRACER_FOLLOW_H
#define LIZARD_TRACER_FOLLOW_H

#include "tracer/state/tracer.h"

/* follow.c */
int lz_follow_begin(struct lz_tracer *t); /* the recording has been created */
void lz_follow_tick(struct lz_tracer *t);
void lz_follow_gone(struct lz_tracer *t); /* this process has ended */
void lz_follow_end(struct lz_tracer *t);  /* waits for those that have only to write */

/* children.c */
/* A forked child's copy of __lizard_pos still points into the ring, which becomes its sink. */
int lz_private_ring(struct lz_proc *c, uint64_t ring, uint64_t traced_addr);
int lz_child_new(struct lz_tracer *t, int event);
/* Undoes in C what the kernel hands on to children and threads; SHARES: the memory stays ours. */
int lz_set_clean(struct lz_tracer *t, struct lz_proc *c, bool shares);
/* What C executes is where the kernel puts it, if that was so before Lizard. */
int lz_set_randomized(struct lz_tracer *t, struct lz_proc *c);

/* unfollowed.c */
/* PID is a child that nobody records. EXECUTED: it runs its own program by now. */
void lz_unfollowed_add(struct lz_tracer *t, pid_t pid, bool executed);
void lz_unfollowed_tell(struct lz_tracer *t, struct lz_trace_result *result);

#endif
