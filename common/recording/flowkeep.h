/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which blocks of the marker stream are packed and stored, and of which only a checksum is kept.
 * With LZ_FLOW_AUTO as many are stored as a CPU that is idle can pack, and as a budget of bytes on
 * disk allows. It counts in intervals between checkpoints: replay computes an interval as a whole. */
#ifndef LIZARD_FLOWKEEP_H
#define LIZARD_FLOWKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <lizard/recording.h>

struct lz_flow_keep {
	enum lz_flow flow;
	uint64_t limit;    /* AUTO: bytes on disk after which nothing more is stored */
	uint64_t on_disk;  /* bytes of markers, as they were written */
	uint64_t stored;   /* bytes of markers, as they were before */
	uint64_t interval; /* bytes of markers since the last checkpoint, stored or not */
	uint64_t expected; /* bytes on disk that this interval would take */
	uint64_t
	    hashed_from; /* the first offset of which only a checksum is kept; UINT64_MAX: none */
	uint64_t begun;  /* ns */
	bool full;       /* the limit was reached */
	bool behind;     /* the rest up to the next checkpoint is not stored */
};

void lz_flow_keep_begin(struct lz_flow_keep *k, enum lz_flow flow, uint64_t limit);
/* Whether the next block is stored. WAITING: bytes behind it in the queue; CROWDED: no CPU is idle.
 * That it is not stored is said by lz_flow_keep_hashed(). */
bool lz_flow_keep_stores(struct lz_flow_keep *k, size_t waiting, bool crowded);
/* Whether a block that is not stored is to be stored after all if the recording ends at once. */
bool lz_flow_keep_holds(const struct lz_flow_keep *k);
/* A block of LEN bytes was written as ON_DISK; one at offset AT was not stored. */
void lz_flow_keep_stored(struct lz_flow_keep *k, size_t len, size_t on_disk);
void lz_flow_keep_hashed(struct lz_flow_keep *k, uint64_t at, size_t len);
/* An interval has ended. Whether the next one is stored is looked at anew. */
void lz_flow_keep_checkpoint(struct lz_flow_keep *k);

#endif
