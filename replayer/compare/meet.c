/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/meet.h"

#include <lizard/error.h>
#include <stdlib.h>

enum {
	FIRST_WINDOW = 1 << 10,
	LAST_WINDOW = 1 << 18,
	MOST_LEVELS = 64 /* calls whose return is looked at */
};

/* What comes behind the end. */
static const uint64_t END_KEY = 0x454E44;
static const uint64_t BASE = 0x9E3779B97F4A7C15u;

static uint64_t key_at(const struct lz_tokens *t, size_t i)
{
	return i < t->n ? lz_tokens_at(t, i)->key : END_KEY;
}

static bool are_equal(const struct lz_tokens t[2], size_t i, size_t k, size_t markers)
{
	for (size_t n = 0; n < markers; n++)
		if (key_at(&t[0], i + n) != key_at(&t[1], k + n))
			return false;
	return true;
}

/* How many pieces begin in what there is of T. */
static size_t n_pieces(const struct lz_tokens *t, size_t markers)
{
	if (t->end)
		return t->n;
	return t->n >= markers ? t->n - markers + 1 : 0;
}

/* ---- near ---- */

struct print {
	const struct lz_tokens *t;
	size_t at, markers;
	uint64_t sum, last; /* LAST: what the oldest key is multiplied with */
};

static void print_begin(struct print *p, const struct lz_tokens *t, size_t markers)
{
	*p = (struct print){.t = t, .markers = markers, .last = 1};
	for (size_t i = 0; i < markers; i++) {
		p->sum = p->sum * BASE + key_at(t, i);
		if (i)
			p->last *= BASE;
	}
}

static void print_next(struct print *p)
{
	p->sum -= p->last * key_at(p->t, p->at);
	p->sum = p->sum * BASE + key_at(p->t, p->at + p->markers);
	p->at++;
}

/* The first place of each piece of one run: 1 + its index, by its fingerprint. */
struct places {
	uint32_t *v;
	size_t mask;
	uint64_t *sum;
};

static int places_init(struct places *p, size_t n)
{
	size_t size = 64;

	while (size < n * 2)
		size *= 2;
	*p = (struct places){.v = calloc(size, sizeof(*p->v)),
	                     .mask = size - 1,
	                     .sum = malloc(size * sizeof(*p->sum))};
	return p->v && p->sum ? 0 : lz_fail("out of memory for %zu markers", n);
}

static void places_free(struct places *p)
{
	free(p->v);
	free(p->sum);
}

static size_t slot_of(const struct places *p, uint64_t sum)
{
	size_t i = (sum ^ sum >> 29) & p->mask;

	while (p->v[i] && p->sum[i] != sum)
		i = (i + 1) & p->mask;
	return i;
}

static void collect(struct places *p, const struct lz_tokens *t, size_t markers)
{
	const size_t n = n_pieces(t, markers);
	struct print at;

	print_begin(&at, t, markers);
	for (size_t i = 0; i < n; i++, print_next(&at)) {
		const size_t slot = slot_of(p, at.sum);

		if (!p->v[slot]) {
			p->v[slot] = (uint32_t)i + 1;
			p->sum[slot] = at.sum;
		}
	}
}

/* The nearest pair of equal pieces: *SKIP markers before it. False: there is none. */
static bool search(const struct places *p, const struct lz_tokens t[2], size_t markers,
                   size_t skip[2])
{
	const size_t n = n_pieces(&t[1], markers);
	size_t best = SIZE_MAX;
	struct print at;

	print_begin(&at, &t[1], markers);
	for (size_t k = 0; k < n && k < best; k++, print_next(&at)) {
		const uint32_t found = p->v[slot_of(p, at.sum)];

		if (found && found - 1 + k < best && are_equal(t, found - 1, k, markers)) {
			best = found - 1 + k;
			skip[0] = found - 1;
			skip[1] = k;
		}
	}
	return best != SIZE_MAX;
}

/* 1: found. */
static int meet_within(struct lz_tokens t[2], size_t window, size_t markers, size_t skip[2])
{
	struct places p;
	bool found = false;

	if (lz_tokens_want(&t[0], window) < 0 || lz_tokens_want(&t[1], window) < 0)
		return -1;
	int rc = places_init(&p, t[0].n);
	if (rc == 0) {
		collect(&p, &t[0], markers);
		found = search(&p, t, markers, skip);
	}
	places_free(&p);
	return rc < 0 ? -1 : found;
}

/* A pair that is farther than the window is long may not be the nearest. */
static bool is_nearest(const struct lz_tokens t[2], const size_t skip[2], size_t window)
{
	return skip[0] + skip[1] < window || window >= LAST_WINDOW || (t[0].end && t[1].end);
}

static int meet_near(struct lz_tokens t[2], size_t markers, uint64_t at[2])
{
	for (size_t window = FIRST_WINDOW; window <= LAST_WINDOW; window *= 4) {
		size_t skip[2];
		const int rc = meet_within(t, window + markers, markers, skip);

		if (rc < 0)
			return -1;
		if (rc > 0 && is_nearest(t, skip, window)) {
			for (int i = 0; i < 2; i++) {
				lz_tokens_drop(&t[i], skip[i]);
				at[i] = lz_tokens_at(&t[i], 0)->offset;
			}
			return 1;
		}
		if (t[0].end && t[1].end)
			return 0;
	}
	return 0;
}

/* ---- far ---- */

/* Where the innermost LEVELS activations of a stack have returned: stream offsets, 0: they have
 * not. */
struct returns {
	const struct lz_tokens *t;
	uint64_t at[MOST_LEVELS];
	uint64_t from;
	size_t depth, levels, done;
};

static int on_call(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct returns *r = arg;

	if (d->thread != r->t->thread || m->offset < r->from)
		return 0;
	/* those that were unwound, or ended in a tail call */
	while (r->done < r->levels && d->n < r->depth - r->done)
		r->at[r->done++] = m->offset;
	if (r->done < r->levels && m->code == LZ_EXIT && d->n == r->depth - r->done)
		r->at[r->done++] = m->offset + 1;
	return r->done == r->levels;
}

static int look(void *arg, struct lz_decoder *d, uint64_t offset)
{
	const struct returns *r = arg;

	(void)d, (void)offset;
	return lz_work_done(r->t->work, 0);
}

static int find_returns(const struct lz_tokens *t, uint64_t from, struct returns *r)
{
	struct lz_decoder *d = lz_stream_stack(t->a->stream, from, t->thread);
	const struct lz_walk w = {
	    .from = from, .to = t->a->to, .calls_only = true, .fn = on_call, .at = look, .arg = r};

	if (!d)
		return -1;
	*r = (struct returns){.t = t, .from = from, .depth = d->n};
	r->levels = d->n < MOST_LEVELS ? d->n : MOST_LEVELS;
	return lz_stream_walk(t->a->stream, &w) < 0 ? -1 : 0;
}

/* 1: the markers from AT on are the same, and the windows begin there. */
static int try_at(struct lz_tokens t[2], size_t markers, const uint64_t at[2])
{
	for (int i = 0; i < 2; i++) {
		lz_tokens_begin(&t[i], at[i]);
		if (lz_tokens_want(&t[i], markers) < 0)
			return -1;
	}
	return t[0].n && t[1].n && are_equal(t, 0, 0, markers);
}

static int meet_far(struct lz_tokens t[2], size_t markers, const uint64_t from[2], uint64_t at[2])
{
	struct returns r[2];
	int rc = 0;

	for (int i = 0; i < 2; i++)
		if (find_returns(&t[i], from[i], &r[i]) < 0)
			return -1;
	for (size_t i = 0; rc == 0 && i < r[0].done && i < r[1].done; i++) {
		at[0] = r[0].at[i];
		at[1] = r[1].at[i];
		rc = try_at(t, markers, at);
	}
	for (int i = 0; rc > 0 && i < 2; i++)
		at[i] = lz_tokens_at(&t[i], 0)->offset;
	return rc;
}

int lz_meet(struct lz_tokens t[2], size_t markers, uint64_t at[2])
{
	uint64_t from[2];

	for (int i = 0; i < 2; i++)
		from[i] = t[i].n ? lz_tokens_at(&t[i], 0)->offset : t[i].next;
	int rc = meet_near(t, markers, at);
	if (rc == 0 && !(t[0].end && t[1].end))
		rc = meet_far(t, markers, from, at);
	for (int i = 0; rc == 0 && i < 2; i++)
		lz_tokens_begin(&t[i], t[i].a->to);
	return rc;
}
