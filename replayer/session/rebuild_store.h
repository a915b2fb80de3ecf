/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of the marker stream that were computed again, packed, in a file without a name: it
 * is gone with the process, and nobody else can write to it. Bounded, also by what the disk has
 * room for: the oldest half is thrown away when it is full. */
#ifndef LZ_REPLAYER_REBUILD_STORE_H
#define LZ_REPLAYER_REBUILD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lz_store;

/* For blocks 0..N_BLOCKS-1, of a recording in DIR: the file is there if it may be, else in
 * $TMPDIR or /tmp. LIMIT: bytes. */
struct lz_store *lz_store_new(const char *dir, uint32_t n_blocks, uint64_t limit);
void lz_store_free(struct lz_store *s);
bool lz_store_has(const struct lz_store *s, uint32_t block);
/* LEN: of the block. 1: it is not there. */
int lz_store_get(struct lz_store *s, uint32_t block, uint8_t *buf, size_t len);
/* LEN bytes, packed by CODEC. -1: it could not be kept, which only costs time. */
int lz_store_put(struct lz_store *s, uint32_t block, int codec, const uint8_t *bytes, size_t len);

#endif
