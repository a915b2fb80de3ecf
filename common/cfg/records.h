/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events, checkpoint heads and file-table entries as bytes. Grammar: lizard/format.h. */
#ifndef LIZARD_RECORDS_H
#define LIZARD_RECORDS_H

#include <common/base/bytes.h>
#include <lizard/recording.h>

/* { length:u32 event } */
void lz_event_put(struct lz_buf *b, const struct lz_event *ev);
/* The bytes of the event at C and moves C behind it; NULL (bad) if it is cut. */
const uint8_t *lz_event_skip(struct lz_cur *c, uint32_t *len);

/* The bytes of CHUNK, *LEN of them, up to the next event; NULL: lz_error(). */
typedef const uint8_t *lz_chunk_fn(void *arg, uint64_t chunk, uint32_t *len);

/* Arrays that a decoded event points into. Zero-initialised is empty. */
struct lz_event_room {
	struct lz_write *writes;
	struct lz_map_op *ops;
	struct lz_page_sum *pages;
	struct lz_kept *kept;
	uint8_t *gathered; /* kept bytes of several places */
	uint32_t cap_writes, cap_ops, cap_pages, cap_kept;
	size_t cap_gathered;
	lz_chunk_fn *chunk; /* NULL: kept bytes are not there */
	void *chunk_arg;
};
/* Decodes the event of LEN bytes; EV points into BYTES, ROOM and chunks. All but index is set. */
int lz_event_get(const uint8_t *bytes, uint32_t len, struct lz_event *ev,
                 struct lz_event_room *room);
void lz_event_room_free(struct lz_event_room *room);

void lz_head_put(struct lz_buf *b, const struct lz_checkpoint *ck);
/* A malloced checkpoint with N_DIRTY dirty pages, or NULL. */
struct lz_checkpoint *lz_head_get(const struct lz_buf *b, uint32_t n_dirty);
void lz_checkpoint_free(struct lz_checkpoint *ck);

void lz_file_put(struct lz_buf *b, const struct lz_file *f);
int lz_file_get(const struct lz_buf *b, struct lz_file *f);
void lz_file_free(struct lz_file *f);

/* Shared by the two. */
void lz_regs_put(struct lz_buf *b, const struct user_regs_struct *r);
void lz_regs_get(struct lz_cur *c, struct user_regs_struct *r);

#endif
