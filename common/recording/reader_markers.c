/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <common/recording/reader.h>
#include <lizard/cfg.h>
#include <lizard/error.h>

uint32_t lz_reader_n_threads(const struct lz_reader *r)
{
	return r->n_streams;
}

uint32_t lz_reader_tid(const struct lz_reader *r, uint32_t i)
{
	return i < r->n_streams ? r->streams[i].tid : 0;
}

uint64_t lz_reader_markers_len(const struct lz_reader *r, uint32_t tid)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);

	return s ? s->len : 0;
}

bool lz_reader_instrumented(const struct lz_reader *r)
{
	bool any = lz_reader_meta(r)->instrumented;

	for (uint32_t i = 0; i < lz_reader_n_threads(r); i++)
		any |= lz_reader_markers_len(r, lz_reader_tid(r, i)) > 0;
	return any;
}

bool lz_reader_built(const struct lz_reader *r)
{
	char *copy = lz_reader_object_of(r, r->meta.program);
	struct lz_cfg *cfg = copy ? lz_cfg_open(copy) : NULL;
	bool built = cfg && lz_cfg_n_funcs(cfg);

	lz_cfg_close(cfg);
	free(copy);
	return built;
}

uint32_t lz_stream_frame(const struct lz_stream *s, uint64_t offset)
{
	uint32_t n = lz_lower_bound(i, s->frames.n, s->frames.v[i].key0 <= offset);

	return n ? n - 1 : 0;
}

/* A block that is not stored. */
static const struct lz_buf *rebuilt(struct lz_reader *r, struct lz_stream *s, uint32_t i)
{
	const struct lz_frame *f = &s->frames.v[i];
	struct lz_cache_slot *slot;

	if (!r->rebuild) {
		lz_fail("only a checksum was kept of the %u bytes of markers from %llu on "
		        "(lizard-trace --flow=hash): replay has to compute them again",
		        f->count, (unsigned long long)f->key0);
		return NULL;
	}
	slot = lz_cache_oldest(&s->cache);
	slot->buf.len = 0;
	slot->buf.failed = false;
	uint8_t *p = lz_buf_room(&slot->buf, f->count);
	if (!p || r->rebuild(r->rebuild_arg, s->tid, i - s->n_before, p) < 0) {
		if (!p)
			lz_fail("no memory for a block of markers");
		return NULL;
	}
	slot->buf.len = f->count;
	lz_cache_filled(&s->cache, slot, i);
	return &slot->buf;
}

/* *FAILED: it is not that nothing is at hand. */
static const struct lz_buf *block(struct lz_reader *r, struct lz_stream *s, uint32_t i, bool kept,
                                  bool *failed)
{
	const struct lz_buf *b;

	if (s->frames.v[i].type != LZ_FRAME_HASHED) {
		b = lz_cache_get(&s->cache, &s->frames, i);
		*failed = !b;
		return b;
	}
	b = lz_cache_find(&s->cache, i);
	if (!b)
		b = lz_computed_get(r, s, i);
	if (b ||
	    (kept && (!r->rebuild || r->rebuild(r->rebuild_arg, s->tid, i - s->n_before, NULL))))
		return b;
	b = rebuilt(r, s, i);
	*failed = !b;
	return b;
}

static int64_t copy(struct lz_reader *r, uint32_t tid, uint64_t offset, void *buf, size_t len,
                    bool kept)
{
	struct lz_stream *s = lz_reader_stream(r, tid);
	size_t done = 0;

	if (!s || offset >= s->len)
		return 0;
	if (offset < s->start)
		return lz_fail("the markers from byte %llu on were not kept",
		               (unsigned long long)offset);
	if (len > s->len - offset)
		len = s->len - offset;
	for (uint32_t i = lz_stream_frame(s, offset); done < len; i++) {
		bool failed = false;
		const struct lz_buf *b = block(r, s, i, kept, &failed);
		size_t from, n;

		if (failed)
			return lz_fail_in("markers-%u", tid);
		if (!b)
			break;
		from = (size_t)(offset + done - s->frames.v[i].key0);
		n = b->len - from;
		if (n > len - done)
			n = len - done;
		memcpy((uint8_t *)buf + done, b->p + from, n);
		done += n;
	}
	return (int64_t)done;
}

int64_t lz_reader_markers(struct lz_reader *r, uint32_t tid, uint64_t offset, void *buf, size_t len)
{
	return copy(r, tid, offset, buf, len, false);
}

int64_t lz_reader_markers_kept(struct lz_reader *r, uint32_t tid, uint64_t offset, void *buf,
                               size_t len)
{
	return copy(r, tid, offset, buf, len, true);
}

void lz_reader_expect(struct lz_reader *r, uint32_t tid, uint32_t from, uint32_t to)
{
	struct lz_stream *s = lz_reader_stream(r, tid);

	if (!s)
		return;
	s->expect_from = from;
	s->expect_to = to;
}

uint32_t lz_reader_expected(const struct lz_reader *r, uint32_t tid, uint32_t block)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);

	return s && s->expect_from <= block && block < s->expect_to ? s->expect_to : block;
}

void lz_reader_on_rebuild(struct lz_reader *r, lz_rebuild_fn *fn, void *arg)
{
	r->rebuild = fn;
	r->rebuild_arg = arg;
}

uint32_t lz_reader_n_blocks(const struct lz_reader *r, uint32_t tid)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);

	return s && s->len > r->first_marker ? lz_stream_frame(s, s->len - 1) + 1 - s->n_before : 0;
}

int lz_reader_block(const struct lz_reader *r, uint32_t tid, uint32_t i, uint64_t *start,
                    uint64_t *len)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);
	const struct lz_frame *f;

	if (i >= lz_reader_n_blocks(r, tid))
		return lz_fail("thread %u has no block %u of markers", tid, i);
	f = &s->frames.v[i + s->n_before];
	*start = f->key0;
	*len = lz_block_len(f);
	if (*len > s->len - *start)
		*len = s->len - *start;
	return 0;
}

uint32_t lz_reader_block_of(const struct lz_reader *r, uint32_t tid, uint64_t offset)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);
	uint32_t n = lz_reader_n_blocks(r, tid);

	if (!n || offset < r->first_marker)
		return 0;
	return offset < s->len ? lz_stream_frame(s, offset) - s->n_before : n - 1;
}

bool lz_reader_block_hashed(const struct lz_reader *r, uint32_t tid, uint32_t i,
                            struct lz_block_sum *sum)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);

	if (i >= lz_reader_n_blocks(r, tid) || s->frames.v[i + s->n_before].type != LZ_FRAME_HASHED)
		return false;
	const struct lz_frame *f = &s->frames.v[i + s->n_before];
	if (sum)
		*sum =
		    (struct lz_block_sum){.kind = f->flags & LZ_HASHED_XXH3    ? LZ_SUM_XXH3
		                                  : f->flags & LZ_HASHED_XXH64 ? LZ_SUM_XXH64
		                                                               : LZ_SUM_CRC_ADLER,
		                          .value = f->key1};
	return true;
}

bool lz_reader_block_at_hand(const struct lz_reader *r, uint32_t tid, uint32_t i)
{
	struct lz_stream *s = lz_reader_stream(r, tid);

	return !lz_reader_block_hashed(r, tid, i, NULL) || lz_computed_has(r, s, i + s->n_before) ||
	       (r->rebuild && !r->rebuild(r->rebuild_arg, tid, i, NULL));
}

uint64_t lz_reader_markers_hashed(const struct lz_reader *r, uint32_t tid)
{
	uint64_t start, len, all = 0;

	for (uint32_t i = 0; i < lz_reader_n_blocks(r, tid); i++)
		if (lz_reader_block_hashed(r, tid, i, NULL) &&
		    !lz_reader_block(r, tid, i, &start, &len))
			all += len;
	return all;
}
