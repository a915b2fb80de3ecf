/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <common/base/array.h>
#include <common/base/bytes.h>

void lz_zero(void *p, size_t n)
{
	memset(p, 0, n);
}

void lz_buf_free(struct lz_buf *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

enum { HUGE_PAGE = 2 << 20 };

/* New memory costs a fault for each of its pages. From the mapping's beginning, where malloc()
 * keeps its size, or it would become two, which cannot be moved together. */
static void want_huge_pages(uint8_t *p, size_t len)
{
	size_t off = (uintptr_t)p % 4096;

	madvise(p - off, len + off, MADV_HUGEPAGE);
}

uint8_t *lz_buf_room(struct lz_buf *b, size_t n)
{
	size_t cap = b->cap;

	if (b->failed)
		return NULL;
	if (n <= cap - b->len)
		return b->p + b->len;
	if (n > SIZE_MAX - b->len || lz_reserve(b->p, b->cap, b->len + n) < 0) {
		b->failed = true;
		return NULL;
	}
	if (b->cap > cap && b->cap >= HUGE_PAGE)
		want_huge_pages(b->p, b->cap);
	return b->p + b->len;
}

/* Mostly there is room. */
static inline uint8_t *room(struct lz_buf *b, size_t n)
{
	return !b->failed && n <= b->cap - b->len ? b->p + b->len : lz_buf_room(b, n);
}

void lz_put(struct lz_buf *b, const void *bytes, size_t n)
{
	uint8_t *p;

	if (!n)
		return;
	p = room(b, n);
	if (p) {
		memcpy(p, bytes, n);
		b->len += n;
	}
}

void lz_put_u8(struct lz_buf *b, uint8_t v)
{
	uint8_t *p = room(b, 1);

	if (!p)
		return;
	*p = v;
	b->len++;
}

/* The format is little-endian and so is the only machine we run on. */
void lz_put_u32(struct lz_buf *b, uint32_t v)
{
	lz_put(b, &v, sizeof(v));
}

void lz_put_u64(struct lz_buf *b, uint64_t v)
{
	lz_put(b, &v, sizeof(v));
}

void lz_put_vars(struct lz_buf *b, const uint64_t *v, size_t n)
{
	enum { MOST = 10 };
	uint8_t *p = room(b, MOST * n);

	if (!p)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t left = v[i];

		for (; left >= 0x80; left >>= 7)
			*p++ = (uint8_t)(left | 0x80);
		*p++ = (uint8_t)left;
	}
	b->len = (size_t)(p - b->p);
}

void lz_put_var(struct lz_buf *b, uint64_t v)
{
	lz_put_vars(b, &v, 1);
}

void lz_put_text(struct lz_buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	lz_put_var(b, n);
	lz_put(b, s, n);
}

const uint8_t *lz_get(struct lz_cur *c, size_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || lz_cur_left(c) < n) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}

uint8_t lz_get_u8(struct lz_cur *c)
{
	const uint8_t *p = lz_get(c, 1);

	return p ? *p : 0;
}

uint32_t lz_get_u32(struct lz_cur *c)
{
	const uint8_t *p = lz_get(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, 4);
	return v;
}

uint64_t lz_get_u64(struct lz_cur *c)
{
	const uint8_t *p = lz_get(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, 8);
	return v;
}

uint64_t lz_get_var(struct lz_cur *c)
{
	const uint8_t *p = c->p;
	uint64_t v = 0;

	for (unsigned shift = 0; !c->bad && shift < 64 && p < c->end; shift += 7) {
		const uint8_t b = *p++;

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			c->p = p;
			return v;
		}
	}
	c->bad = true;
	return 0;
}

uint64_t lz_get_max(struct lz_cur *c, uint64_t max)
{
	uint64_t v = lz_get_var(c);

	if (v > max) {
		c->bad = true;
		return 0;
	}
	return v;
}

char *lz_get_text(struct lz_cur *c, size_t max)
{
	size_t n = lz_get_max(c, max);
	const uint8_t *p = lz_get(c, n);
	char *s;

	if (!p || (n && memchr(p, 0, n))) {
		c->bad = true;
		return NULL;
	}
	s = malloc(n + 1);
	if (!s) {
		c->bad = true;
		return NULL;
	}
	memcpy(s, p, n);
	s[n] = 0;
	return s;
}
