/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restartable sequences, done by the tracer. */
#ifndef LIZARD_TRACER_RSEQ_H
#define LIZARD_TRACER_RSEQ_H

#include "tracer/state/tracer.h"

/* Bytes of a registered area that are kept right: AT_RSEQ_FEATURE_SIZE. */
enum { LZ_RSEQ_FEATURES = 28 };

/* At an rseq call's entry: what the kernel would give. 0: it succeeds, and lz_rseq_done() follows
 * at its exit, with its event under construction. */
int64_t lz_rseq_answer(const struct lz_tracer *t);
int lz_rseq_done(struct lz_tracer *t);
/* The CPU that the program is told is another one; the event under construction shows it. */
int lz_rseq_moved(struct lz_tracer *t);
/* C is let go: the kernel takes over. */
int lz_rseq_release(const struct lz_rseq *q, struct lz_proc *c);
/* Is IP, of the current thread, in a sequence that must not be interrupted? */
bool lz_rseq_inside(const struct lz_tracer *t, uint64_t ip);
/* Before the signal of a fault: if that is in a sequence, the handler comes back to where the
 * sequence is given up. */
int lz_rseq_abort(struct lz_tracer *t, uint64_t ip);

#endif
