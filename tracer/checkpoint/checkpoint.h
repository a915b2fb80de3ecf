/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints, and the check of what they hold. */
#ifndef LIZARD_TRACER_CHECKPOINT_H
#define LIZARD_TRACER_CHECKPOINT_H

#include "tracer/state/tracer.h"

/* selfcheck.c */
/* With LIZARD_TRACE_CHECK=1, after each checkpoint: mappings and pages are what we believe they
 * are. For tests. */
int lz_self_check(struct lz_tracer *t);

/* checkpoint.c */
int lz_checkpoint(struct lz_tracer *t, const struct user_regs_struct *r, bool whole);
/* Is one more within their share of the time, wherever the program is? */
bool lz_checkpoint_affordable(const struct lz_tracer *t);
/* Is the last checkpoint's position this instant's? */
bool lz_checkpoint_at(struct lz_tracer *t, uint64_t ip);
/* Has the interval passed? */
bool lz_checkpoint_due(const struct lz_tracer *t);
/* How often to ask that while the program does not stop. */
unsigned lz_checkpoint_look_ms(const struct lz_tracer *t);
/* If it has. */
int lz_checkpoint_maybe(struct lz_tracer *t, const struct user_regs_struct *r);

#endif
