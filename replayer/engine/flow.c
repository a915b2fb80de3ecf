/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a re-executed process writes is compared with the recorded stream: byte for byte where
 * that is stored, else block by block, by checksum. */
#include "replayer/engine/inside.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The block that e->marker + DONE lies in. Behind the end of the recording there is one more,
 * without end. */
static int find_block(struct lz_engine *e, uint64_t at)
{
	struct lz_flow_block *b = &e->flow;
	struct lz_replay *rp = e->rp;
	uint64_t len;

	if (b->at == at && b->start <= at && at < b->end)
		return 0;
	*b = (struct lz_flow_block){.start = at, .end = UINT64_MAX, .at = at};
	if (at >= rp->stream_len)
		return 0;
	uint32_t i = lz_reader_block_of(rp->reader, rp->tid, at);
	if (lz_reader_block(rp->reader, rp->tid, i, &b->start, &len) < 0)
		return -1;
	b->end = b->start + len;
	b->whole = b->start == at;
	b->hashed = lz_reader_block_hashed(rp->reader, rp->tid, i, &b->want);
	lz_flow_sum_begin(&b->sum, b->want.kind);
	return 0;
}

bool lz_engine_hashed_here(struct lz_engine *e)
{
	return find_block(e, e->marker) == 0 && e->flow.hashed;
}

/* ---- by checksum ---- */

static int block_differs(struct lz_engine *e)
{
	const struct lz_flow_block *b = &e->flow;
	char *text = lz_describe_flow(e, b->start, b->end);
	int ret = lz_engine_diverge(e, "%s", text ? text : "the markers differ");

	free(text);
	return ret;
}

static int add_to_block(struct lz_engine *e, const uint8_t *got, size_t len)
{
	struct lz_flow_block *b = &e->flow;
	uint64_t at = b->at;

	b->at += len;
	if (!b->whole) /* the replay began in the middle of it */
		return 0;
	lz_flow_sum_add(&b->sum, got, len);
	if (b->at == b->end && lz_flow_sum_value(&b->sum) != b->want.value)
		return block_differs(e);
	return e->tap.fn ? e->tap.fn(e->tap.arg, at, got, len, b->at == b->end) : 0;
}

/* ---- byte for byte ---- */

static int bytes_differ(struct lz_engine *e, uint64_t at, const uint8_t *want, const uint8_t *got,
                        size_t have, size_t len)
{
	size_t same = 0, start = 0;

	while (same < have && want[same] == got[same])
		same++;
	/* back to the marker's beginning */
	for (unsigned size; start < have && (size = lz_marker_size(want[start])); start += size)
		if (start + size > same)
			break;
	char *text = lz_describe_markers(e, at + start, got + start, len - start);
	int ret = lz_engine_diverge(e, "%s", text ? text : "the markers differ");
	free(text);
	return ret;
}

static int compare_bytes(struct lz_engine *e, const uint8_t *got, size_t len)
{
	struct lz_flow_block *b = &e->flow;
	uint8_t *want = e->rp->want;
	int64_t n = lz_engine_recorded(e, b->at, want, len);

	if (n < 0)
		return -1;
	/* a recording that was cut may end before what is written here */
	size_t have = (size_t)n < len ? (size_t)n : len;
	if (memcmp(want, got, have) == 0 && (have == len || e->rp->end.kind == LZ_END_CUT)) {
		b->at += len;
		return 0;
	}
	return bytes_differ(e, b->at, want, got, have, len);
}

int lz_engine_compare_markers(struct lz_engine *e, const uint8_t *got, size_t len)
{
	for (size_t done = 0; done < len;) {
		if (find_block(e, e->marker + done) < 0)
			return -1;
		const struct lz_flow_block *b = &e->flow;
		size_t n = b->end - b->at < len - done ? (size_t)(b->end - b->at) : len - done;
		int ret =
		    b->hashed ? add_to_block(e, got + done, n) : compare_bytes(e, got + done, n);
		if (ret)
			return ret;
		done += n;
	}
	return 0;
}
