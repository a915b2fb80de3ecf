/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the shared memory lock (turns/shared_memory_lock.h) consists of: a page that the tracers
 * of a run share. */
#ifndef LIZARD_TRACER_SHARED_LOCK_PAGE_H
#define LIZARD_TRACER_SHARED_LOCK_PAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lz_area;
struct lz_shared_lock;
struct lz_tracer;

enum { LZ_SHARED_LOCK_FD = 3 }; /* of all tracers but the first */

struct lz_shared_lock_page {
	pthread_mutex_t mutex; /* robust: a tracer may be killed */
	uint32_t waiting;      /* those that were killed meanwhile with them: what tells is asked */
	uint64_t asked;        /* ns: when somebody last said that it waits */
	pid_t last;            /* tracer that has had it */
	pid_t first;           /* tracer that has made it */
};

/* The first tracer makes it, the others get its descriptor. */
int lz_shared_lock_make(struct lz_shared_lock *f);
int lz_shared_lock_map(struct lz_shared_lock *f, int fd);
void lz_shared_lock_free(struct lz_shared_lock *f);

/* Is PID a tracer of the same run? */
bool lz_shared_lock_common(const struct lz_shared_lock *f, pid_t pid);
/* May others of the run store to what is mapped there? */
bool lz_shared_lock_for(const struct lz_tracer *t, const struct lz_area *a);
/* Has the process memory that others of the run may store to? */
bool lz_shared_lock_needed(const struct lz_tracer *t);
/* Has nobody else of the run stored anywhere since the last comparison? */
bool lz_shared_lock_quiet(const struct lz_tracer *t);

#endif
