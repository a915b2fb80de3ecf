/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Among recorded processes that share memory only the one that has the lock runs code of its
 * own. So what others store there changes between two instants of a process that its recording
 * names: it has had the lock in one piece. A process leaves it when it sleeps in a call, and at
 * the end of a slice if others wait for it. */
#ifndef LIZARD_TRACER_SHARED_MEMORY_LOCK_H
#define LIZARD_TRACER_SHARED_MEMORY_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct lz_tracer;

/* Waits for it, if it is needed and not there. */
int lz_shared_lock_enter(struct lz_tracer *t);
void lz_shared_lock_leave(struct lz_tracer *t);
/* Do others wait for longer than GRACE ns after the slice? */
bool lz_shared_lock_due(const struct lz_tracer *t, uint64_t grace);
/* Do others wait for it at all? */
bool lz_shared_lock_wanted(const struct lz_tracer *t);
/* At an instant: lets others have it, and logs what they have stored. */
int lz_shared_lock_yield(struct lz_tracer *t);
/* At an instant: logs what others have stored while they had it. */
int lz_shared_lock_log(struct lz_tracer *t);

#endif
