/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording that keeps its last part only (lz_writer_keep_last()): its files are cut into parts,
 * each of which begins with a whole checkpoint, and the oldest parts go while there is no room.
 *
 * The functions that are said to run on the worker are its jobs: in the order of the frames, on its
 * thread. */
#ifndef LIZARD_PARTS_H
#define LIZARD_PARTS_H

#include <common/recording/worker.h>

struct lz_parts;

/* A part that is to begin: the files that are to be continued, the last one of which makes it
 * visible; copies of mapped files that it needs no longer. All but the outs is freed with it. */
struct lz_part {
	struct lz_parts *parts;
	uint32_t number;
	struct lz_out **outs;
	uint32_t n_outs;
	char **gone;
	uint32_t n_gone;
};
void lz_part_free(struct lz_part *p);

/* DIRFD: of the recording; FILESFD: of its files/. They must outlive the worker. */
struct lz_parts *lz_parts_new(uint64_t limit, int dirfd, int filesfd);
void lz_parts_free(struct lz_parts *r);
/* EXPECTED: bytes that the worker will have written when its queue is empty. Is it time for a new
 * part? */
bool lz_parts_due(struct lz_parts *r, uint64_t expected);
/* The number of the part that is to begin next. */
uint32_t lz_parts_next(struct lz_parts *r);
/* The number of the oldest part that there is. */
uint32_t lz_parts_oldest(const struct lz_parts *r);
/* Bytes that wait at most, if the limit is to hold. */
size_t lz_parts_queue(const struct lz_parts *r);

/* On the worker. */
/* A job; ARG: a struct lz_part. The files so far end here. */
int lz_parts_begin(void *arg, bool go);
/* A job; ARG: the parts. All that the new part begins with has been written: those before may
 * go. */
int lz_parts_begun(void *arg, bool go);
/* LEN more bytes are about to be written. Returns how many are gone instead. */
uint64_t lz_parts_room(struct lz_parts *r, size_t len);

/* The name of part NUMBER of a file: NAME, NAME.1, NAME.2, ... */
enum { LZ_PART_NAME = 64 };
void lz_part_name(const char *name, uint32_t number, char out[LZ_PART_NAME]);
/* The part's number if FILE is a part of NAME as it is spelled here, else -1. */
int64_t lz_part_of(const char *file, const char *name);
/* Is NAME one of a recording's files that are in parts? */
bool lz_part_is_file(const char *name);

#endif
