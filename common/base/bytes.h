/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing byte buffers and bounded cursors: how frames are put together and taken apart. */
#ifndef LIZARD_BYTES_H
#define LIZARD_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. Out of memory sets `failed`, once and for all; check it at the end. */
struct lz_buf {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

/* N zeroes. Of a struct's size the compiler makes a string instruction, which takes 30 ns to begin: too long
 * for each event. */
void lz_zero(void *p, size_t n);
void lz_buf_free(struct lz_buf *b);
/* Room for N more bytes; NULL if there is no memory. Does not change len. */
uint8_t *lz_buf_room(struct lz_buf *b, size_t n);
void lz_put(struct lz_buf *b, const void *bytes, size_t n);
void lz_put_u8(struct lz_buf *b, uint8_t v);
void lz_put_u32(struct lz_buf *b, uint32_t v);
void lz_put_u64(struct lz_buf *b, uint64_t v);
void lz_put_var(struct lz_buf *b, uint64_t v);
void lz_put_vars(struct lz_buf *b, const uint64_t *v, size_t n);
/* len:var bytes */
void lz_put_text(struct lz_buf *b, const char *s);

/* Reads beyond the end give 0 and set `bad`, once and for all. */
struct lz_cur {
	const uint8_t *p, *end;
	bool bad;
};

static inline size_t lz_cur_left(const struct lz_cur *c)
{
	return (size_t)(c->end - c->p);
}
/* N bytes in place; NULL (and bad) if there are fewer. */
const uint8_t *lz_get(struct lz_cur *c, size_t n);
uint8_t lz_get_u8(struct lz_cur *c);
uint32_t lz_get_u32(struct lz_cur *c);
uint64_t lz_get_u64(struct lz_cur *c);
uint64_t lz_get_var(struct lz_cur *c);
/* As lz_get_var; a value above MAX is bad and gives 0. */
uint64_t lz_get_max(struct lz_cur *c, uint64_t max);
/* A malloced copy, at most MAX bytes; NULL and bad on failure. Embedded zero bytes are bad. */
char *lz_get_text(struct lz_cur *c, size_t max);

#endif
