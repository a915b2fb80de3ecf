/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The full buffers of a thread's ring: a thread beside the program copies their markers to the
 * writer and empties them, so that the program waits for neither. It looks from time to time and
 * need not be woken, which would cost the program more than the copy (a message to another CPU,
 * tens of microseconds in a virtual machine). */
#ifndef LIZARD_GATHER_H
#define LIZARD_GATHER_H

#include <sched.h>
#include <lizard/recording.h>

struct lz_gather;

/* RING: LZ_RING_SIZE bytes, all zero; the first buffer lent will be the ring's first. The thread
 * runs on CPUS. NULL: lz_error(). */
struct lz_gather *lz_gather_start(struct lz_writer *w, uint32_t tid, uint8_t *ring,
                                  const cpu_set_t *cpus);
/* The current buffer is full: its bytes FROM to TO are yet to be written. The next one of the
 * ring becomes current and is empty on return: if the thread has not come round to it, the
 * caller empties what is lent. -1 as below. */
int lz_gather_lend(struct lz_gather *g, uint32_t from, uint32_t to);
/* Instead of that: the caller sums the next buffer itself, and only the sum is kept. */
int lz_gather_sum(struct lz_gather *g, uint32_t from, uint32_t to);
/* All that is lent has gone to the writer. -1: the writer refused something, now or earlier. */
int lz_gather_all(struct lz_gather *g);
/* Ends the thread and frees G. What is lent and not gathered is lost. NULL is fine. */
void lz_gather_stop(struct lz_gather *g);

#endif
