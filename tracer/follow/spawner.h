/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that the tracers of followed processes are forked from: it is there before the first tracer
 * has threads, and a fork of it costs less than the start of a program. It ends with the last tracer. */
#ifndef LIZARD_TRACER_SPAWNER_H
#define LIZARD_TRACER_SPAWNER_H

#include "tracer/state/tracer.h"

/* Descriptors that a tracer is given, all its own. */
struct lz_spawned {
	int state;       /* where the handover comes from */
	int news;        /* for the first tracer */
	int shared_lock; /* LZ_SHARED_LOCK_FD */
	int spawner;     /* to ask for further tracers */
};

/* In the first tracer, while it has no other thread. TRACE is what a tracer does; its result is 0 or -1.
 * The descriptor to ask at; -1. *SPAWNER is a child, which ends when nobody can ask any more and all that it
 * has forked have ended. */
int lz_spawner_begin(int (*trace)(const struct lz_spawned *given), pid_t *spawner);
/* Asks at GIVEN->spawner for a tracer, which gets copies of the descriptors. If it cannot be had, the other
 * end of GIVEN->state tells. */
int lz_spawner_ask(const struct lz_spawned *given);

#endif
