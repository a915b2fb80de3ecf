/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packs frames and appends them to files, in the order in which they were pushed: on a thread of its
 * own, which is started when there is enough to do. */
#ifndef LIZARD_WORKER_H
#define LIZARD_WORKER_H

#include <sched.h>
#include <common/recording/frame.h>
#include <lizard/recording.h>

struct lz_worker;
struct lz_parts;

/* A file that is written; owned by the writer, used by the worker. */
struct lz_out {
	int fd;
	char *name;
};

struct lz_worker *lz_worker_start(void);
/* Takes over RAW's memory, on failure too. FRAME: type, flags, count, keys; the rest is set here.
 * Blocks while too much is queued. -1: a frame before it could not be written (lz_error()). */
int lz_worker_push(struct lz_worker *w, struct lz_out *out, const struct lz_frame *frame,
                   struct lz_buf *raw);
/* An empty buffer with room for N bytes, one whose contents were written if there is such: its
 * pages are there already, and touching new ones costs more than copying into them. RAW must be
 * empty. */
void lz_worker_spare(struct lz_worker *w, size_t n, struct lz_buf *raw);
/* Runs JOB(ARG, true) on the thread, after all that was pushed so far; with false if a frame or job
 * before it has failed. -1: likewise, or it could not be queued, then JOB has been called. */
int lz_worker_call(struct lz_worker *w, int (*job)(void *arg, bool go), void *arg);
/* Of what is on disk, the last part is kept. RING must outlive the worker. Before anything is
 * pushed. */
void lz_worker_parts(struct lz_worker *w, struct lz_parts *parts);
/* Waits until the queue is empty. -1 as lz_worker_check(). */
int lz_worker_drain(struct lz_worker *w);
/* 0, or -1 with the worker's first error as lz_error(). */
int lz_worker_check(struct lz_worker *w);
/* Which blocks of markers are stored and which are only summed (lizard/recording.h,
 * lz_writer_flow()). */
void lz_worker_flow(struct lz_worker *w, enum lz_flow flow, uint64_t limit);
/* The stream offset of the first block of which only a checksum is kept; UINT64_MAX: all is stored
 * so far. */
uint64_t lz_worker_hashed_from(struct lz_worker *w);
/* Whether no CPU is idle, and only a checksum would be kept of a block that is pushed now. */
bool lz_worker_only_sums(struct lz_worker *w);
/* Whether LZ_FLOW_AUTO's limit was reached. */
bool lz_worker_flow_full(struct lz_worker *w);
/* Bytes on disk. */
uint64_t lz_worker_written(struct lz_worker *w);
/* Bytes ever written when what is queued is written as well, guessed from how it has packed so
 * far. */
uint64_t lz_worker_expected(struct lz_worker *w);
/* Which CPUs the thread may use. */
int lz_worker_pin(struct lz_worker *w, const cpu_set_t *cpus);
/* Whether no CPU is idle: then few markers are stored with LZ_FLOW_AUTO. */
void lz_worker_crowded(struct lz_worker *w, bool crowded);
/* The recording ends: what is still held back of markers that need not be stored is stored. */
void lz_worker_ending(struct lz_worker *w);
/* Writes what is queued, ends the thread, frees W. -1 as lz_worker_check(). */
int lz_worker_stop(struct lz_worker *w);

#endif
