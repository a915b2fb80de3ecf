/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracer and program share a CPU, and may move to another one together. */
#ifndef LIZARD_TRACER_PAIR_H
#define LIZARD_TRACER_PAIR_H

struct lz_tracer;

/* Moves both, from whichever thread of the tracer; or not, if the program could tell. */
void lz_pair_move(struct lz_tracer *t, int cpu);
/* The program, which is stopped, may have a cpuid that nothing traps, and would be told its CPU:
 * from now on both are on the one on which the recording began. */
void lz_pair_told(struct lz_tracer *t);

#endif
