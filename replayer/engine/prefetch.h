/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LZ_REPLAYER_PREFETCH_H
#define LZ_REPLAYER_PREFETCH_H

#include <lizard/recording.h>

struct lz_prefetch;

/* Begins to read the thread's stream of R's recording, by a reader of its own. NULL: do without. */
struct lz_prefetch *lz_prefetch_new(const struct lz_reader *r, uint32_t tid);
void lz_prefetch_free(struct lz_prefetch *p);
/* Stored markers, for offsets that hardly go back: fewer than LEN bytes where OFFSET lies before
 * what is kept, where only checksums are recorded, or at the stream's end. What lies before OFFSET
 * may be forgotten. */
size_t lz_prefetch_read(struct lz_prefetch *p, uint64_t offset, void *buf, size_t len);

#endif
