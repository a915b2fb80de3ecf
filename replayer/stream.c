#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "stream_int.h"

struct lz_stream *lz_stream_new(struct lz_reader *r, struct lz_modules *m, uint32_t tid)
{
	struct lz_stream *s = calloc(1, sizeof(*s));

	if (!s) {
		lz_fail("out of memory for a marker stream");
		return NULL;
	}
	s->modules = m;
	s->tid = tid;
	s->n_blocks = lz_reader_n_blocks(r, tid);
	lz_cursor_init(s, &s->own, r);
	if (lz_stream_collect(s) || lz_index_new(s)) {
		lz_stream_free(s);
		return NULL;
	}
	return s;
}

void lz_stream_free(struct lz_stream *s)
{
	if (!s)
		return;
	lz_index_free(s);
	lz_cursor_free(&s->own);
	free(s->fns);
	free(s->hash);
	free(s);
}

uint64_t lz_stream_len(const struct lz_stream *s)
{
	return lz_reader_markers_len(s->own.reader, s->tid);
}

uint32_t lz_stream_n_blocks(const struct lz_stream *s)
{
	return s->n_blocks;
}

uint64_t lz_stream_oddities(const struct lz_stream *s)
{
	return s->own.d.oddities + s->oddities;
}

uint32_t lz_stream_block_of(struct lz_stream *s, uint64_t offset)
{
	uint32_t lo = 0, hi = s->n_blocks;

	while (lo + 1 < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint64_t start, len;

		if (lz_reader_block(s->own.reader, s->tid, mid, &start, &len) || start > offset)
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/* ---- cursors ---- */

void lz_cursor_init(struct lz_stream *s, struct lz_cursor *c, struct lz_reader *r)
{
	c->reader = r;
	c->buf_block = UINT32_MAX;
	lz_decoder_init(&c->d);
	lz_stream_questions(s, &c->d);
}

void lz_cursor_free(struct lz_cursor *c)
{
	lz_decoder_free(&c->d);
	free(c->buf);
}

int lz_cursor_load(struct lz_stream *s, struct lz_cursor *c, uint32_t block)
{
	uint64_t start, len;

	if (c->buf_block == block)
		return 0;
	if (lz_reader_block(c->reader, s->tid, block, &start, &len))
		return lz_fail("block %u of markers-%u does not exist", block, s->tid);
	c->buf_block = UINT32_MAX;
	if (len > c->buf_len || !c->buf) {
		uint8_t *p = realloc(c->buf, len ? len : 1);

		if (!p)
			return lz_fail("out of memory for a block of markers");
		c->buf = p;
	}
	if (lz_reader_markers(c->reader, s->tid, start, c->buf, len) != (int64_t)len)
		return lz_fail_in("block %u of markers-%u cannot be read", block, s->tid);
	c->buf_start = start;
	c->buf_len = len;
	c->buf_block = block;
	return 0;
}

int lz_cursor_decode(struct lz_cursor *c, uint64_t end, const uint8_t *watch, lz_mark_fn *fn,
                     void *arg)
{
	uint64_t stop = c->buf_start + c->buf_len;
	int64_t used;

	if (end < stop)
		stop = end;
	if (c->at >= stop)
		return 0;
	used = lz_decoder_feed(&c->d, c->buf + (c->at - c->buf_start), stop - c->at, c->at, watch,
	                       fn, arg);
	if (used < 0)
		return (int)used;
	c->at += used;
	return 0;
}

int lz_stream_decode(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                     lz_mark_fn *fn, void *arg)
{
	struct lz_cursor *c = &s->own;

	if (block >= s->n_blocks) {
		lz_decoder_reset(&c->d);
		c->at = 0;
		return 0;
	}
	if (lz_index_restore(s, c, block) || lz_cursor_load(s, c, block))
		return -1;
	c->at = c->buf_start;
	return lz_cursor_decode(c, end, watch, fn, arg);
}

struct lz_decoder *lz_stream_decoder(struct lz_stream *s)
{
	return &s->own.d;
}

int lz_stream_decode_local(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                           lz_mark_fn *fn, void *arg)
{
	struct lz_cursor *c = &s->own;
	uint64_t oddities = c->d.oddities;
	int rc;

	lz_decoder_reset(&c->d);
	if (block >= s->n_blocks)
		return 0;
	if (lz_cursor_load(s, c, block))
		return -1;
	c->at = c->buf_start;
	rc = lz_cursor_decode(c, end, watch, fn, arg);
	c->d.oddities = oddities; /* exits of what was entered before do not count */
	return rc;
}

struct lz_decoder *lz_stream_stack(struct lz_stream *s, uint64_t offset)
{
	if (lz_stream_decode(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL))
		return NULL;
	return &s->own.d;
}

struct lz_decoder *lz_stream_stack_local(struct lz_stream *s, uint64_t offset)
{
	if (lz_stream_decode_local(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL))
		return NULL;
	return &s->own.d;
}
