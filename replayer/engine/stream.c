/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marker buffer of a re-executed process: read, compared with the recording, emptied. */
#include "replayer/engine/inside.h"
#include "replayer/engine/prefetch.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include <string.h>

/* Are all eight bytes in 1..LZ_EDGE_MAX: none zero, none with the upper four bits set? */
static bool all_edges(uint64_t w)
{
	uint64_t zero = (w - 0x0101010101010101u) & ~w;
	uint64_t escape = w & w << 1 & w << 2 & w << 3;

	return !((zero | escape) & 0x8080808080808080u);
}

/* How much of BUF is whole markers. */
static size_t parse(const uint8_t *buf, size_t len)
{
	size_t at = 0;

	while (at < len) {
		/* most markers are edges: eight of them at once */
		for (uint64_t w; at + 8 <= len; at += 8) {
			memcpy(&w, buf + at, 8);
			if (!all_edges(w))
				break;
		}
		if (at == len)
			break;
		unsigned size = lz_marker_size(buf[at]);
		if (!size || size > len - at)
			break;
		at += size;
	}
	return at;
}

int64_t lz_engine_recorded(struct lz_engine *e, uint64_t offset, void *buf, size_t len)
{
	struct lz_replay *rp = e->rp;

	if (rp->prefetch && lz_prefetch_read(rp->prefetch, offset, buf, len) == len)
		return (int64_t)len;
	return lz_reader_markers_kept(rp->reader, rp->tid, offset, buf, len);
}

/* Most stops see few new markers: a small piece first, then larger ones. */
int lz_engine_sync(struct lz_engine *e)
{
	uint8_t *got = e->rp->got;
	size_t chunk = 64;

	if (!e->buffer.base)
		return 0;
	for (;;) {
		uint64_t off = e->marker - e->buffer.start;
		if (off >= LZ_BUFFER_GUARD)
			return 0;
		size_t len = LZ_BUFFER_GUARD - off < chunk ? LZ_BUFFER_GUARD - off : chunk;
		if (lz_ring_read(e, off, got, len) < 0)
			return lz_fail_in("the marker buffer");
		size_t n = parse(got, len);
		int ret = n ? lz_engine_compare_markers(e, got, n) : 0;
		if (ret)
			return ret;
		e->marker += n;
		if (n + LZ_MARKER_MAX_SIZE < len || !n)
			return 0;
		chunk = LZ_BUFFER_SIZE;
	}
}

/* The next LEN bytes, taken if they are what was recorded; LAST: and no marker follows. 1:
 * taken. */
static int take_equal(struct lz_engine *e, size_t len, bool last)
{
	uint8_t *got = e->rp->got, *want = e->rp->want;
	uint64_t off = e->marker - e->buffer.start;

	if (lz_ring_read(e, off, got, len + last) < 0)
		return lz_fail_in("the marker buffer");
	int64_t n = lz_engine_recorded(e, e->marker, want, len);
	if (n < 0)
		return -1;
	if ((size_t)n != len || memcmp(got, want, len) || (last && got[len]))
		return 0;
	e->marker += len;
	return 1;
}

int lz_engine_sync_to(struct lz_engine *e, uint64_t marker)
{
	uint64_t off = e->marker - e->buffer.start;

	if (e->buffer.base && marker > e->marker && marker - e->marker < LZ_BUFFER_GUARD - off &&
	    !lz_engine_hashed_here(e)) {
		int ret = take_equal(e, (size_t)(marker - e->marker), true);
		if (ret)
			return ret < 0 ? -1 : 0;
	}
	return lz_engine_sync(e);
}

/* At a full buffer the write pointer says how much there is: if that is what was recorded, it
 * need not be parsed. 1: done; 2: diverged. */
static int sync_full(struct lz_engine *e)
{
	uint64_t end = e->regs.r15 - e->buffer.base, off = e->marker - e->buffer.start;

	if (end > LZ_BUFFER_GUARD || end + LZ_MARKER_MAX_SIZE < LZ_BUFFER_GUARD || end <= off)
		return 0;
	size_t len = (size_t)(end - off);
	if (lz_engine_hashed_here(e)) {
		uint8_t *got = e->rp->got;
		if (lz_ring_read(e, off, got, len) < 0)
			return lz_fail_in("the marker buffer");
		int ret = lz_engine_compare_markers(e, got, len);
		e->marker += ret ? 0 : len;
		return ret > 0 ? 2 : ret < 0 ? -1 : 1;
	}
	return take_equal(e, len, false);
}

int lz_engine_take_buffer(struct lz_engine *e)
{
	int ret = sync_full(e);

	if (ret < 0 || ret == 2)
		return ret < 0 ? -1 : 1;
	if (!ret && (ret = lz_engine_sync(e)) != 0)
		return ret;
	size_t used = (size_t)(e->marker - e->buffer.start) + LZ_MARKER_MAX_SIZE;
	if (used > LZ_BUFFER_GUARD)
		used = LZ_BUFFER_GUARD;
	if (lz_ring_clear(e, used) < 0)
		return lz_fail_in("the marker buffer");
	e->buffer.base = lz_ring_next(e->buffer.base);
	e->regs.r15 = e->buffer.base;
	e->regs_dirty = true;
	e->buffer.start = e->marker;
	e->goal.end = UINT64_MAX;
	return 0;
}

int lz_engine_settle(struct lz_engine *e)
{
	uint8_t code[16];
	int32_t disp;

	if (!e->buffer.base || e->marker - e->buffer.start < LZ_BUFFER_GUARD - LZ_MARKER_MAX_SIZE ||
	    e->regs.r15 - e->buffer.base >= LZ_BUFFER_SIZE)
		return 0;
	size_t n = lz_engine_read(e, e->regs.rip, code, sizeof code);
	unsigned size = lz_insn_r15_store(code, n, &disp);
	if (!size ||
	    e->regs.r15 + (uint64_t)(int64_t)disp + size <= e->buffer.base + LZ_BUFFER_GUARD)
		return 0;
	return lz_engine_take_buffer(e);
}

/* N: as lz_reader_markers() has returned for CODE. */
static uint64_t end_of(const struct lz_engine *e, uint64_t marker, uint8_t code, int64_t n)
{
	unsigned size = n == 1 ? lz_marker_size(code) : 0;

	return size && marker + size <= e->rp->stream_len ? marker + size : UINT64_MAX;
}

uint64_t lz_engine_next_marker(const struct lz_engine *e, uint64_t marker)
{
	uint8_t code = 0;
	int64_t n = lz_reader_markers(e->rp->reader, e->rp->tid, marker, &code, 1);

	return end_of(e, marker, code, n);
}

uint64_t lz_engine_next_kept(const struct lz_engine *e, uint64_t marker)
{
	uint8_t code = 0;
	int64_t n = lz_reader_markers_kept(e->rp->reader, e->rp->tid, marker, &code, 1);

	return end_of(e, marker, code, n);
}
