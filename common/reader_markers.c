#include <string.h>
#include <common/reader.h>
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

/* The frame that holds the byte at OFFSET, which must be below the stream's length. */
static uint32_t frame_of(const struct lz_stream *s, uint64_t offset)
{
	uint32_t lo = 0, hi = s->frames.n;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->frames.v[mid].key0 <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int64_t lz_reader_markers(struct lz_reader *r, uint32_t tid, uint64_t offset, void *buf, size_t len)
{
	struct lz_stream *s = lz_reader_stream(r, tid);
	size_t done = 0;

	if (!s || offset >= s->len)
		return 0;
	if (len > s->len - offset)
		len = s->len - offset;
	for (uint32_t i = frame_of(s, offset); done < len; i++) {
		const struct lz_buf *b = lz_cache_get(&s->cache, &s->frames, i);
		size_t from, n;

		if (!b)
			return lz_fail_in("markers-%u", tid);
		from = (size_t)(offset + done - s->frames.v[i].key0);
		n = b->len - from;
		if (n > len - done)
			n = len - done;
		memcpy((uint8_t *)buf + done, b->p + from, n);
		done += n;
	}
	return (int64_t)done;
}

uint32_t lz_reader_n_blocks(const struct lz_reader *r, uint32_t tid)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);

	return s && s->len ? frame_of(s, s->len - 1) + 1 : 0;
}

int lz_reader_block(const struct lz_reader *r, uint32_t tid, uint32_t i, uint64_t *start,
                    uint64_t *len)
{
	const struct lz_stream *s = lz_reader_stream(r, tid);

	if (i >= lz_reader_n_blocks(r, tid))
		return lz_fail("thread %u has no block %u of markers", tid, i);
	*start = s->frames.v[i].key0;
	*len = s->frames.v[i].raw_len;
	if (*len > s->len - *start)
		*len = s->len - *start;
	return 0;
}
