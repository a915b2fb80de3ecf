/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packs and keeps the blocks that lanes compute: in threads of their own on all CPUs, so that a
 * lane's process goes on meanwhile. They are kept in the recording, or else until this process
 * ends. */
#ifndef LZ_REPLAYER_REBUILD_KEEP_H
#define LZ_REPLAYER_REBUILD_KEEP_H

#include "replayer/session/rebuild_store.h"
#include <common/base/progress.h>
#include <lizard/format.h>
#include <lizard/recording.h>
#include <pthread.h>

enum { LZ_LANES = 16 };

struct lz_keeper;

/* What the lanes of a session share: where the blocks go, and how far they are. */
struct lz_rebuild_sink {
	pthread_mutex_t lock;
	struct lz_keeper *keeper;
	struct lz_store *store; /* of what cannot be kept beside the recording; NULL: none yet */
	uint64_t store_limit, index_limit; /* bytes */
	int codec;                         /* that blocks are packed by */
	bool ahead;    /* nobody waits for the blocks: only for all to be kept */
	char *why_not; /* something is not kept beside the recording: why */
	bool told;     /* that something could not be kept at all */
	uint32_t wanted;
	uint8_t *out;          /* block WANTED goes there; NULL: it has */
	_Atomic uint64_t done; /* bytes that were computed for the request at hand */
	_Atomic bool interrupted;
	struct lz_progress progress; /* shown by the thread of lane 0 */
};

/* For blocks of thread TID of the recording that R has open. */
struct lz_keeper *lz_keeper_new(struct lz_rebuild_sink *sink, const struct lz_reader *r,
                                uint32_t tid);
/* Waits until all that was handed over is kept. */
void lz_keeper_free(struct lz_keeper *k);
/* From here on up to N threads pack, N being at most LZ_LANES. */
void lz_keeper_begin(struct lz_keeper *k, unsigned n);
/* All that was to be computed is handed over. It need not be kept before lz_keeper_free(), unless
 * the sink's `ahead` says so. */
void lz_keeper_end(struct lz_keeper *k);
/* Takes block BLOCK, BYTES, of SIZE bytes, in memory of LZ_BLOCK_MAX bytes. Returns other memory
 * like it. From any thread. */
uint8_t *lz_keeper_put(struct lz_keeper *k, uint32_t block, uint8_t *bytes, size_t size);
/* Whether BLOCK waits to be kept. */
bool lz_keeper_has(struct lz_keeper *k, uint32_t block);
/* The LEN bytes of BLOCK, which waits or was just kept in the recording. 1: neither. */
int lz_keeper_get(struct lz_keeper *k, uint32_t block, uint8_t *buf, size_t len);

#endif
