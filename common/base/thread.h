/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of Lizard's own. */
#ifndef LIZARD_THREAD_H
#define LIZARD_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Starts a thread that no signal reaches: those belong to the thread that sees the program's stops.
 * NAME: at most 15 bytes, shown by ps and top. -1: lz_error(). */
int lz_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);
/* Waits with LOCK held for WAKE, at most so long. It may come back early. */
void lz_thread_rest(pthread_cond_t *wake, pthread_mutex_t *lock, uint32_t us);

#endif
