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

struct lz_next_tracer {
	void (*prepare)(void); /* before it is asked for; it may be left out */
	void (*drop)(void);    /* what that has made, since nobody asks for it */
	int (*trace)(const struct lz_spawned *given); /* 0 or -1 */
};

/* In the first tracer, while it has no other thread. What a tracer does is NEXT.
 * The descriptor to ask at; -1. *SPAWNER is a child, which ends when nobody can ask any more and all that it
 * has forked have ended. */
int lz_spawner_begin(const struct lz_next_tracer *next, pid_t *spawner);
/* Asks at GIVEN->spawner for a tracer, which gets copies of the descriptors. If it cannot be had, the other
 * end of GIVEN->state tells. */
int lz_spawner_ask(const struct lz_spawned *given);

#endif
