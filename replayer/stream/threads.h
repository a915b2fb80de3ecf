/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads along the marker stream, which they share: whose marker is it at a stream offset?
 * Threads are numbered from 0 in the order in which they ran first; a tid that is used again is
 * another thread. Pure. */
#ifndef LIZARD_REPLAYER_STREAM_THREADS_H
#define LIZARD_REPLAYER_STREAM_THREADS_H

#include "replayer/stream/turns.h"

#define LZ_NO_THREAD UINT32_MAX

struct lz_stream_threads {
	const struct lz_turns *turns;
	uint32_t *number; /* of each turn's thread */
	uint32_t *first;  /* [n]: each thread's first turn */
	uint32_t n;
};

/* TURNS must outlive it. */
int lz_stream_threads_init(struct lz_stream_threads *t, const struct lz_turns *turns);
void lz_stream_threads_free(struct lz_stream_threads *t);

/* The number of the thread that runs after EVENT events. */
uint32_t lz_stream_thread_at(const struct lz_stream_threads *t, uint64_t event);
/* ... of thread TID at that instant, which may run later only; LZ_NO_THREAD. */
uint32_t lz_stream_thread_find(const struct lz_stream_threads *t, uint32_t tid, uint64_t event);
/* The turn in which the marker that ends at stream offset OFFSET was written, the first for 0.
 * Turns in which none was written lie between a turn and the next that begins at a higher
 * offset. */
uint32_t lz_turn_before(const struct lz_stream_threads *t, uint64_t offset);
/* The same of one thread: the last that began before OFFSET; LZ_NO_TURN. */
uint32_t lz_stream_thread_turn_before(const struct lz_stream_threads *t, uint32_t thread,
                                      uint64_t offset);
/* The stream offset at which a turn ends: UINT64_MAX for the last. */
uint64_t lz_turn_end(const struct lz_stream_threads *t, uint32_t turn);

/* The stream offset DISTANCE bytes of the thread's own markers before OFFSET, behind one of its
 * markers or inside of one; *FIRST: it has not written as much. */
uint64_t lz_stream_thread_back(const struct lz_stream_threads *t, uint32_t thread, uint64_t offset,
                               uint64_t distance, bool *first);
/* How many bytes the thread has written between two offsets. */
uint64_t lz_stream_thread_between(const struct lz_stream_threads *t, uint32_t thread, uint64_t from,
                                  uint64_t to);

#endif
