/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/strand.h"

#include "replayer/stream/edges.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 18 };

int lz_strand_open(struct lz_strand *s, struct lz_asked *a, uint32_t thread, uint64_t offset)
{
	uint32_t turn = lz_stream_thread_turn_before(&a->threads, thread, offset + 1);

	if (turn == LZ_NO_TURN)
		turn = a->threads.first[thread];
	const uint64_t begin = a->turns.v[turn].marker;
	s->a = a;
	s->turn = turn;
	s->at = offset > begin ? offset : begin;
	s->pos = s->len = 0;
	if (!s->buf && !(s->buf = malloc(CHUNK)))
		return lz_fail("out of memory for markers");
	return 0;
}

void lz_strand_close(struct lz_strand *s)
{
	free(s->buf);
	s->buf = NULL;
}

/* To the turn that has what comes next; false: there is none. */
static bool find_turn(struct lz_strand *s)
{
	const struct lz_asked *a = s->a;

	while (s->turn != LZ_NO_TURN && s->at >= lz_turn_end(&a->threads, s->turn)) {
		s->turn = a->turns.v[s->turn].after;
		if (s->turn != LZ_NO_TURN)
			s->at = a->turns.v[s->turn].marker;
	}
	return s->turn != LZ_NO_TURN && s->at < a->to;
}

static int read_more(struct lz_strand *s)
{
	struct lz_reader *r = s->a->reader;
	uint64_t end = lz_turn_end(&s->a->threads, s->turn);

	if (end > s->a->to)
		end = s->a->to;
	const size_t want = end - s->at < CHUNK ? (size_t)(end - s->at) : CHUNK;
	const int64_t got = lz_reader_markers(r, lz_reader_meta(r)->tid, s->at, s->buf, want);
	if (got < 0)
		return -1;
	s->pos = 0;
	s->len = (size_t)got;
	return got > 0;
}

int lz_strand_fill(struct lz_strand *s)
{
	const size_t left = lz_strand_left(s);

	if (left >= LZ_MARKER_MAX_SIZE || (left && lz_marker_size(s->buf[s->pos]) <= left))
		return 1;
	if (!left && !find_turn(s))
		return 0;
	/* a marker that a damaged turn cuts is read as it is */
	return read_more(s);
}

/* Of the marker at P, with LEFT bytes; what is none counts as one of one byte. */
static size_t size_at(const uint8_t *p, size_t left)
{
	const size_t size = lz_marker_size(*p);

	return size && size <= left ? size : 1;
}

/* By the stream's number. */
static uint32_t function_at(const struct lz_strand *s)
{
	struct lz_decoder *d = lz_stream_decoder(s->a->stream);
	uint32_t entry;

	memcpy(&entry, lz_strand_bytes(s) + 1, sizeof(entry));
	return d->resolve(d->arg, entry, s->at);
}

int lz_strand_entry(struct lz_asked *a, uint32_t thread, uint32_t *fn)
{
	struct lz_strand s = {0};
	int rc = lz_strand_open(&s, a, thread, 0);

	*fn = LZ_FN_NONE;
	if (rc == 0)
		rc = lz_strand_fill(&s);
	if (rc > 0 && *lz_strand_bytes(&s) == LZ_ENTER && lz_strand_left(&s) >= 5)
		*fn = function_at(&s);
	lz_strand_close(&s);
	return rc < 0 ? -1 : 0;
}

/* ---- two of them ---- */

/* Entries of functions that are the same, as long as both are mapped there. */
struct met {
	uint32_t entry[2];
	uint64_t upto[2]; /* stream offsets */
};
enum { MOST_MET = 1024 };

static struct met *met_at(struct met *met, const uint8_t *p)
{
	uint32_t entry;

	memcpy(&entry, p + 1, sizeof(entry));
	return &met[(entry * 0x9E3779B1u) >> 22];
}

static bool is_met(const struct met *m, const uint8_t *p, const uint8_t *q, const uint64_t at[2])
{
	return !memcmp(&m->entry[0], p + 1, sizeof(m->entry[0])) &&
	       !memcmp(&m->entry[1], q + 1, sizeof(m->entry[1])) && at[0] <= m->upto[0] &&
	       at[1] <= m->upto[1];
}

/* How many of the next 16 bytes are the same markers of one byte. */
static unsigned equal_edges(const uint8_t *p, const uint8_t *q)
{
	const __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p),
	                                    _mm_loadu_si128((const __m128i *)q));
	const unsigned other = ~(unsigned)_mm_movemask_epi8(same) & 0xFFFF;
	const unsigned equal = other ? (unsigned)__builtin_ctz(other) : 16;
	const unsigned edges = lz_count_edges(p);

	return equal < edges ? equal : edges;
}

/* Over what most of a stream is: edges, returns, and calls of functions that were met before. */
static void run_through(struct lz_strand s[2], struct met *met)
{
	const uint8_t *const p = lz_strand_bytes(&s[0]), *const q = lz_strand_bytes(&s[1]);
	const size_t n = lz_strand_left(&s[0]) < lz_strand_left(&s[1]) ? lz_strand_left(&s[0])
	                                                               : lz_strand_left(&s[1]);
	size_t i = 0;

	while (i + 32 <= n) {
		const unsigned edges = equal_edges(p + i, q + i);

		i += edges;
		if (edges == 16)
			continue;
		if (p[i] != q[i])
			break;
		if (p[i] == LZ_EXIT)
			i++;
		else if (p[i] == LZ_ENTER && is_met(met_at(met, p + i), p + i, q + i,
		                                    (uint64_t[]){s[0].at + i, s[1].at + i}))
			i += 5;
		else
			break;
	}
	lz_strand_use(&s[0], i);
	lz_strand_use(&s[1], i);
}

static bool has_function(const uint8_t *p, size_t left)
{
	return (*p == LZ_ENTER && left >= 5) || (*p == LZ_LANDING && left >= 9);
}

static void meet(struct lz_strand s[2], const uint32_t fn[2], struct met *met)
{
	struct met *m = met_at(met, lz_strand_bytes(&s[0]));

	for (int i = 0; i < 2; i++) {
		const struct lz_fn *f = lz_stream_fn(s[i].a->stream, fn[i]);

		memcpy(&m->entry[i], lz_strand_bytes(&s[i]) + 1, sizeof(m->entry[i]));
		m->upto[i] = f ? f->to_marker : 0;
	}
}

/* The next marker of both. 0: it is the same, both have passed it. */
static int next_marker(struct lz_strand s[2], const struct lz_paired_fns *fns, struct met *met)
{
	const uint8_t *p = lz_strand_bytes(&s[0]), *q = lz_strand_bytes(&s[1]);
	const size_t left = lz_strand_left(&s[0]), size = size_at(p, left);

	if (has_function(p, left) || has_function(q, lz_strand_left(&s[1]))) {
		const bool both =
		    *p == *q && has_function(p, left) && has_function(q, lz_strand_left(&s[1]));
		uint32_t fn[2] = {LZ_FN_NONE, LZ_FN_NONE}, number[2];

		for (int i = 0; i < 2; i++) {
			if (has_function(lz_strand_bytes(&s[i]), lz_strand_left(&s[i])))
				fn[i] = function_at(&s[i]);
			number[i] = lz_paired_fn(fns, i, fn[i]);
		}
		if (lz_paired_kind(fns, number[0]) != LZ_PAIR_SAME ||
		    lz_paired_kind(fns, number[1]) != LZ_PAIR_SAME)
			return LZ_EQUAL_CHANGED;
		if (!both || number[0] != number[1])
			return LZ_EQUAL_PART;
		if (*p == LZ_ENTER)
			meet(s, fn, met);
	} else if (size != size_at(q, lz_strand_left(&s[1])) || memcmp(p, q, size) != 0) {
		return LZ_EQUAL_PART;
	}
	lz_strand_use(&s[0], size);
	lz_strand_use(&s[1], size);
	return 0;
}

int lz_strands_equal(struct lz_strand s[2], const struct lz_paired_fns *fns, struct lz_work *work)
{
	uint64_t told = s[0].at;
	struct met met[MOST_MET] = {0};

	for (;;) {
		const int first = lz_strand_fill(&s[0]), second = lz_strand_fill(&s[1]);

		if (first < 0 || second < 0)
			return -1;
		if (!first || !second)
			return first || second ? LZ_EQUAL_PART : LZ_EQUAL_END;
		run_through(s, met);
		if (lz_strand_left(&s[0]) && lz_strand_left(&s[1])) {
			const int rc = next_marker(s, fns, met);
			if (rc)
				return rc;
		}
		if (s[0].at - told > CHUNK) {
			if (lz_work_done(work, s[0].at - told) < 0)
				return -1;
			told = s[0].at;
		}
	}
}
