/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/array.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

uint32_t lz_reader_n_checkpoints(const struct lz_reader *r)
{
	return r->n_cks;
}

/* Replay counts on from there: to the end of the numbers, if it could. */
static bool is_behind_markers(const struct lz_reader *r, const struct lz_checkpoint *ck)
{
	uint64_t end = r->first_marker;

	for (uint32_t i = 0; i < r->n_streams; i++)
		end = r->streams[i].len > end ? r->streams[i].len : end;
	return ck->pos.marker > end;
}

static struct lz_checkpoint *load(struct lz_reader *r, uint32_t i)
{
	const struct lz_frame *f = &r->checkpoints.v[r->cks[i].head];
	struct lz_buf buf = {0};
	struct lz_checkpoint *ck = NULL;

	if (lz_frames_read(&r->checkpoints, r->cks[i].head, &buf) == 0)
		ck = lz_head_get(&buf, f->count);
	lz_buf_free(&buf);
	if (ck && (ck->index != r->first_ck + i || ck->pos.event != f->key0 ||
	           ck->pos.marker != f->key1 || ck->whole != (f->flags & LZ_HEAD_WHOLE))) {
		lz_checkpoint_free(ck);
		ck = NULL;
		lz_fail("it does not agree with its frame");
	}
	if (ck && is_behind_markers(r, ck)) {
		lz_checkpoint_free(ck);
		ck = NULL;
		lz_fail("it lies behind the last marker");
	}
	if (ck)
		ck->index = i;
	else
		lz_fail_in("checkpoint %u", i);
	return ck;
}

const struct lz_checkpoint *lz_reader_checkpoint(struct lz_reader *r, uint32_t i)
{
	if (i >= r->n_cks) {
		lz_fail("there is no checkpoint %u, the recording has %u", i, r->n_cks);
		return NULL;
	}
	if (!r->cks[i].ck)
		r->cks[i].ck = load(r, i);
	return r->cks[i].ck;
}

uint64_t lz_reader_checkpoint_size(const struct lz_reader *r, uint32_t i)
{
	uint64_t size = 0;

	for (uint32_t k = i < r->n_cks ? r->cks[i].head : 0; i < r->n_cks && k < r->cks[i].end; k++)
		size += LZ_FRAME_HEADER + r->checkpoints.v[k].stored_len;
	return size;
}

bool lz_reader_checkpoint_whole(const struct lz_reader *r, uint32_t i)
{
	return i < r->n_cks && r->checkpoints.v[r->cks[i].head].flags & LZ_HEAD_WHOLE;
}

uint32_t lz_reader_checkpoint_before(struct lz_reader *r, uint64_t event, uint64_t marker)
{
	const struct lz_frame *v = r->checkpoints.v;
	uint32_t n = lz_lower_bound(i, r->n_cks, v[r->cks[i].head].key0 <= event);

	while (n && v[r->cks[n - 1].head].key1 > marker)
		n--;
	return n ? n - 1 : 0;
}
