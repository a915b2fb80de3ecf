/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cursor: one block of markers at hand, and the decoder that goes through it. */
#include <stdlib.h>
#include <lizard/error.h>
#include "replayer/stream/inside.h"

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

int lz_cursor_begin(struct lz_stream *s, struct lz_cursor *c)
{
	c->at = c->buf_start;
	c->turn = lz_turn_before(s->threads, c->at);
	return lz_decoder_switch(&c->d, s->threads->number[c->turn]);
}

/* Does it begin with an execve? */
static bool is_program(const struct lz_turn *turn)
{
	return !turn->switched && turn->before == LZ_NO_TURN;
}

int lz_cursor_turn(struct lz_stream *s, struct lz_cursor *c)
{
	const struct lz_stream_threads *t = s->threads;
	const int rc = c->turn_ends ? c->turn_ends(c->turn_arg, &c->d, c->at) : 0;

	if (rc)
		return rc;
	const uint32_t old = c->turn++;
	if (lz_decoder_switch(&c->d, t->number[c->turn]))
		return -1;
	if (t->turns->v[old].ends || is_program(&t->turns->v[c->turn]))
		lz_decoder_drop(&c->d, t->number[old]);
	return 0;
}

int lz_cursor_turns(struct lz_stream *s, struct lz_cursor *c)
{
	int rc = 0;

	while (rc == 0 && lz_turn_end(s->threads, c->turn) <= c->at)
		rc = lz_cursor_turn(s, c);
	return rc;
}

int lz_cursor_decode(struct lz_stream *s, struct lz_cursor *c, uint64_t end, const uint8_t *watch,
                     lz_mark_fn *fn, void *arg)
{
	uint64_t stop = c->buf_start + c->buf_len;

	if (end < stop)
		stop = end;
	while (c->at < stop) {
		const int rc = lz_cursor_turns(s, c);
		uint64_t upto;
		int64_t used;

		if (rc)
			return rc;
		upto = lz_turn_end(s->threads, c->turn);
		if (upto > stop)
			upto = stop;
		used = lz_decoder_feed(&c->d, c->buf + (c->at - c->buf_start), upto - c->at, c->at,
		                       watch, fn, arg);
		if (used < 0)
			return (int)used;
		c->at += used;
		if (c->at < upto)
			break;
	}
	return 0;
}
