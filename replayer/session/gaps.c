/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaps in the stream: their order, the boundaries of markers that they lie between, and their
 * events. */
#include "replayer/stream/edges.h"
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <lizard/marker.h>

int lz_gap_cmp(uint64_t event_a, uint64_t marker_a, uint64_t event_b, uint64_t marker_b)
{
	if (event_a != event_b)
		return event_a < event_b ? -1 : 1;
	return marker_a < marker_b ? -1 : marker_a > marker_b;
}

/* A boundary that was found remains the beginning of the next search in its block. */
int64_t lz_marker_boundary(struct lz_session *s, uint64_t offset)
{
	uint8_t buf[4096];
	uint64_t start, len;
	uint32_t block = lz_reader_block_of(s->rp.reader, s->rp.tid, offset);

	if (!offset || !s->rp.stream_len)
		return 0;
	if (lz_reader_block(s->rp.reader, s->rp.tid, block, &start, &len) < 0)
		return -1;
	/* not beyond it: that might have to be computed */
	uint64_t end = start + len;
	for (unsigned i = 0; i < LZ_BOUNDS; i++)
		if (s->bounds[i] > start && s->bounds[i] <= offset)
			start = s->bounds[i];
	for (;;) {
		size_t most = end - start < sizeof buf ? end - start : sizeof buf;
		int64_t n = lz_reader_markers(s->rp.reader, s->rp.tid, start, buf, most);
		if (n < 0)
			return -1;
		uint64_t at = 0;
		for (unsigned size; at < (uint64_t)n; at += size) {
			size = at + 16 <= (uint64_t)n ? lz_count_edges(buf + at) : 0;
			if (start + at + size > offset)
				return (int64_t)offset;
			if (size)
				continue;
			size = lz_marker_size(buf[at]);
			if (!size)
				return lz_fail("the marker stream is damaged at %lu",
				               (unsigned long)(start + at));
			if (start + at + size > offset)
				return (int64_t)(start + at);
			if (at + size > (uint64_t)n)
				break;
		}
		if (!at || start + at >= s->rp.stream_len)
			return (int64_t)(start + at);
		start += at;
		if (start / LZ_BOUND_EVERY != (start - at) / LZ_BOUND_EVERY)
			s->bounds[start / LZ_BOUND_EVERY % LZ_BOUNDS] = start;
	}
}

int64_t lz_block_start(struct lz_session *s, uint64_t offset)
{
	uint32_t block = lz_reader_block_of(s->rp.reader, s->rp.tid, offset);
	uint64_t start, len;

	return lz_reader_block(s->rp.reader, s->rp.tid, block, &start, &len) < 0 ? -1
	                                                                         : (int64_t)start;
}

int64_t lz_marker_boundary_near(struct lz_session *s, uint64_t offset)
{
	if (!offset || !s->rp.stream_len)
		return 0;
	uint32_t block = lz_reader_block_of(s->rp.reader, s->rp.tid, offset);
	if (lz_reader_block_at_hand(s->rp.reader, s->rp.tid, block))
		return lz_marker_boundary(s, offset);
	return lz_block_start(s, offset);
}

uint64_t lz_gap_event(struct lz_session *s, uint64_t marker)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);
	uint64_t e = lz_reader_event_after_marker(s->rp.reader, marker);

	return ck && e < ck->pos.event ? ck->pos.event : e;
}
