/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/stream/inside.h"
#include "replayer/stream/wanted.h"

struct lz_stream *lz_stream_new(struct lz_reader *r, struct lz_modules *m,
                                const struct lz_stream_threads *t)
{
	uint32_t tid = lz_reader_meta(r)->tid;
	struct lz_stream *s = calloc(1, sizeof(*s));

	if (!s) {
		lz_fail("out of memory for a marker stream");
		return NULL;
	}
	s->modules = m;
	s->threads = t;
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

struct lz_reader *lz_stream_reader(const struct lz_stream *s)
{
	return s->own.reader;
}

const struct lz_stream_threads *lz_stream_threads(const struct lz_stream *s)
{
	return s->threads;
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
	return lz_reader_block_of(s->own.reader, s->tid, offset);
}

int lz_stream_decode(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                     lz_mark_fn *fn, void *arg)
{
	struct lz_cursor *c = &s->own;

	if (block >= s->n_blocks) {
		c->at = 0;
		return lz_index_restore(s, c, 0);
	}
	if (lz_index_restore(s, c, block) || lz_cursor_load(s, c, block) || lz_cursor_begin(s, c))
		return -1;
	return lz_cursor_decode(s, c, end, watch, fn, arg);
}

/* To offset FROM, nobody being called. */
static int begin_walk(struct lz_stream *s, struct lz_cursor *c, uint64_t from)
{
	const uint32_t block = lz_stream_block_of(s, from);

	if (lz_index_restore(s, c, block) || lz_cursor_load(s, c, block) || lz_cursor_begin(s, c))
		return -1;
	return lz_cursor_decode(s, c, from, NULL, NULL, NULL);
}

/* To the beginning of the next block, or of a later one if nothing of interest runs before. */
static int next_block(struct lz_stream *s, struct lz_cursor *c, const struct lz_walk *w,
                      const struct lz_wanted *wanted)
{
	const uint32_t next = c->buf_block + 1;
	const uint32_t last = lz_stream_block_of(s, w->to - 1);
	uint32_t block = next;

	while (block < last && block + 1 < s->n_starts && !lz_wanted_in(wanted, block))
		block++;
	if (block > next && lz_index_restore(s, c, block))
		return -1;
	return lz_cursor_load(s, c, block) ? -1 : lz_cursor_begin(s, c);
}

static int walk_blocks(struct lz_stream *s, struct lz_cursor *c, const struct lz_walk *w,
                       const struct lz_wanted *wanted)
{
	int rc = w->at ? w->at(w->arg, &c->d, c->at) : 0;

	while (!rc) {
		rc = lz_cursor_decode(s, c, w->to, w->watch, w->fn, w->arg);
		if (!rc && w->at)
			rc = w->at(w->arg, &c->d, c->at);
		if (rc || c->at >= w->to || c->buf_block + 1 >= s->n_blocks)
			return rc;
		rc = next_block(s, c, w, wanted);
	}
	return rc;
}

int lz_stream_walk(struct lz_stream *s, const struct lz_walk *w)
{
	struct lz_cursor *c = &s->own;
	struct lz_wanted wanted;

	if (!s->n_blocks || w->from >= w->to)
		return 0;
	if (lz_wanted_make(&wanted, s, w->watch, false) < 0)
		return -1;
	lz_reader_expect(c->reader, s->tid, lz_stream_block_of(s, w->from),
	                 lz_stream_block_of(s, w->to - 1) + 1);
	int rc = begin_walk(s, c, w->from);
	c->d.calls_only = w->calls_only;
	if (!rc)
		rc = walk_blocks(s, c, w, &wanted);
	c->d.calls_only = false;
	lz_wanted_free(&wanted);
	return rc;
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
	if (lz_cursor_load(s, c, block) || lz_cursor_begin(s, c))
		return -1;
	rc = lz_cursor_decode(s, c, end, watch, fn, arg);
	c->d.oddities = oddities; /* exits of what was entered before do not count */
	return rc;
}

struct lz_decoder *lz_stream_stack(struct lz_stream *s, uint64_t offset, uint32_t thread)
{
	if (lz_stream_decode(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL) ||
	    lz_decoder_switch(&s->own.d, thread))
		return NULL;
	return &s->own.d;
}

struct lz_decoder *lz_stream_stack_local(struct lz_stream *s, uint64_t offset, uint32_t thread)
{
	if (lz_stream_decode_local(s, lz_stream_block_of(s, offset), offset, NULL, NULL, NULL) ||
	    lz_decoder_switch(&s->own.d, thread))
		return NULL;
	return &s->own.d;
}
