/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/stream/piece.h"

#include "replayer/stream/edges.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

/* No activation has this number. */
#define NOT_LANDED UINT64_MAX

void lz_piece_init(struct lz_stream *s, struct lz_piece *p)
{
	lz_decoder_init(&p->d);
	lz_stream_questions(s, &p->d);
	p->d.inner = true;
}

void lz_piece_free(struct lz_piece *p)
{
	lz_decoder_free(&p->d);
	free(p->left);
}

/* How far markers go that concern the running activation alone, or end it. */
static const uint8_t *plain_end(const struct lz_stream *s, const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		const unsigned n = end - p >= 16 ? lz_count_edges(p) : 0;
		const unsigned size = lz_marker_size(*p);

		if (n) {
			p += n;
			continue;
		}
		if (*p == LZ_ENTER || *p == LZ_LANDING || (*p == LZ_TAIL && s->any_tail_either) ||
		    !size || (size_t)(end - p) < size)
			break;
		p += size;
	}
	return p;
}

static int leave(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p, uint64_t upto)
{
	const uint8_t *at = c->buf + (c->at - c->buf_start);
	const uint8_t *end = plain_end(s, at, c->buf + (upto - c->buf_start));

	if (end == at)
		return 0;
	if (lz_reserve(p->left, p->left_room, p->n_left + 1) < 0)
		return lz_fail("out of memory for a block of markers");
	p->left[p->n_left++] =
	    (struct lz_stretch){c->at, c->at + (uint64_t)(end - at), c->d.landed};
	c->at += (uint64_t)(end - at);
	return 0;
}

/* In the present turn, up to UPTO or to what cannot be decoded yet. */
static int decode_turn(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p, uint64_t upto,
                       const struct lz_looking *l)
{
	for (uint64_t before = UINT64_MAX; c->at < upto && c->at != before;) {
		before = c->at;
		if (!c->d.n && leave(s, c, p, upto) < 0)
			return -1;
		const int64_t used = lz_decoder_feed(&c->d, c->buf + (c->at - c->buf_start),
		                                     upto - c->at, c->at, l->watch, l->fn, l->arg);
		if (used < 0)
			return (int)used;
		c->at += (uint64_t)used;
	}
	return 0;
}

static void swap(struct lz_cursor *c, struct lz_piece *p)
{
	const struct lz_decoder d = c->d;

	c->d = p->d;
	p->d = d;
}

static int decode(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                  const struct lz_looking *l)
{
	const uint64_t end = c->buf_start + c->buf_len;
	int rc = lz_cursor_begin(s, c);

	while (rc == 0 && c->at < end) {
		rc = lz_cursor_turns(s, c);
		uint64_t upto = lz_turn_end(s->threads, c->turn);
		if (upto > end)
			upto = end;
		if (rc == 0)
			rc = decode_turn(s, c, p, upto, l);
		if (c->at < upto)
			break;
	}
	p->upto = c->at;
	p->turn = c->turn;
	return rc;
}

int lz_piece_decode(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                    const struct lz_looking *l)
{
	p->n_left = 0;
	lz_decoder_reset(&p->d);
	p->d.landed.act = NOT_LANDED;
	swap(c, p);
	const int rc = decode(s, c, p, l);
	swap(c, p);
	return rc;
}

static int push_all(struct lz_decoder *d, uint32_t thread, const struct lz_act *acts, size_t n)
{
	int rc = n ? lz_decoder_switch(d, thread) : 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = lz_decoder_push(d, &acts[i]);
	return rc;
}

static void land(struct lz_decoder *d, const struct lz_landed *landed)
{
	if (landed->act != NOT_LANDED)
		d->landed = *landed;
}

/* What the piece has on top. */
static int put_on(struct lz_stream *s, struct lz_cursor *c, const struct lz_piece *p)
{
	const struct lz_decoder *from = &p->d;
	int rc = 0;

	for (uint32_t t = 0; rc == 0 && t < from->n_stacks; t++)
		rc = push_all(&c->d, t, from->stack[t].acts, from->stack[t].n);
	if (rc == 0)
		rc = push_all(&c->d, from->thread, from->acts, from->n);
	land(&c->d, &from->landed);
	return rc == 0 ? lz_decoder_switch(&c->d, s->threads->number[c->turn]) : rc;
}

int lz_piece_join(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                  const struct lz_looking *l)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->n_left; i++) {
		c->at = p->left[i].from;
		land(&c->d, &p->left[i].landed);
		rc = lz_cursor_decode(s, c, p->left[i].to, l->watch, l->fn, l->arg);
	}
	c->at = p->upto;
	c->d.oddities += p->d.oddities;
	p->d.oddities = 0;
	while (rc == 0 && c->turn < p->turn)
		rc = lz_cursor_turn(s, c);
	if (rc == 0)
		rc = put_on(s, c, p);
	return rc == 0 ? lz_cursor_decode(s, c, UINT64_MAX, l->watch, l->fn, l->arg) : rc;
}
