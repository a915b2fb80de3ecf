/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording that keeps its last part only. */
#include <stdlib.h>
#include <string.h>
#include <common/recording/writer.h>
#include <lizard/error.h>
#include <lizard/format.h>

int lz_writer_keep_last(struct lz_writer *w, uint64_t limit)
{
	w->parts = lz_parts_new(limit, w->dirfd, w->filesfd);
	if (!w->parts)
		return -1;
	lz_worker_parts(w->worker, w->parts);
	return 0;
}

bool lz_writer_part_due(struct lz_writer *w)
{
	return w->parts && w->n_checkpoints &&
	       lz_parts_due(w->parts, lz_worker_expected(w->worker));
}

void lz_writer_keep_tail(struct lz_writer *w, const uint8_t *bytes, size_t len)
{
	struct lz_buf *t = &w->tail;

	if (!w->parts)
		return;
	w->tail_end += len;
	if (len > LZ_BUFFER_GUARD) {
		bytes += len - LZ_BUFFER_GUARD;
		len = LZ_BUFFER_GUARD;
	}
	if (t->len + len > LZ_TAIL_MAX) {
		memmove(t->p, t->p + t->len - LZ_BUFFER_GUARD, LZ_BUFFER_GUARD);
		t->len = LZ_BUFFER_GUARD;
	}
	lz_put(t, bytes, len);
}

static bool is_mapped(const struct lz_checkpoint *ck, uint32_t file)
{
	for (uint32_t i = 0; i < ck->n_vmas; i++)
		if (ck->vmas[i].file == file)
			return true;
	return false;
}

/* What the program and its libraries are called stays known, whatever becomes of them. */
static void note_first_files(struct lz_writer *w, const struct lz_checkpoint *ck)
{
	for (uint32_t i = 0; i < w->n_files; i++)
		w->files[i].first = is_mapped(ck, i);
}

/* The copies that nothing behind CK needs. */
static int let_copies_go(struct lz_writer *w, const struct lz_checkpoint *ck, struct lz_part *p)
{
	p->gone = calloc(w->n_files + 1u, sizeof(*p->gone));
	for (uint32_t i = 0; p->gone && i < w->n_files; i++) {
		struct lz_known_file *k = &w->files[i];

		bool needed = k->needed;

		k->needed = false;
		if (k->gone || k->first || needed || is_mapped(ck, i))
			continue;
		k->gone = true;
		k->part = p->number;
		if (!*k->name)
			continue;
		p->gone[p->n_gone] = strdup(k->name);
		if (!p->gone[p->n_gone])
			return lz_fail("no memory for a part of the recording");
		p->n_gone++;
	}
	return p->gone ? 0 : lz_fail("no memory for a part of the recording");
}

/* `checkpoints` last: it is what a reader goes by. */
static int list_outs(struct lz_writer *w, struct lz_part *p)
{
	p->outs = calloc(w->n_streams + 2u, sizeof(struct lz_out *));
	if (!p->outs)
		return lz_fail("no memory for a part of the recording");
	p->outs[p->n_outs++] = &w->events;
	for (uint32_t i = 0; i < w->n_streams; i++)
		p->outs[p->n_outs++] = &w->streams[i]->out;
	p->outs[p->n_outs++] = &w->checkpoints;
	return 0;
}

/* Each part has the whole table, since the ones before may be gone. */
static int push_files(struct lz_writer *w)
{
	for (uint32_t i = 0; i < w->n_files; i++) {
		struct lz_known_file *k = &w->files[i];
		struct lz_file file = k->file;

		file.copy = k->gone ? "" : k->name;
		if (lz_writer_push_file(w, &file, i) < 0)
			return -1;
	}
	return 0;
}

/* What the present marker buffer holds lies before the part. */
static int push_buffer(struct lz_writer *w, const struct lz_thread_state *t)
{
	struct lz_frame f = {
	    .type = LZ_FRAME_MARKERS, .flags = LZ_MARKERS_BUFFER, .key0 = t->buffer_start};
	uint64_t len = t->marker - t->buffer_start;
	struct lz_buf b = {0};

	if (!t->buffer || !len || !w->n_streams)
		return 0;
	if (t->marker != w->tail_end || len > w->tail.len)
		return lz_fail("the marker buffer of a checkpoint is not what has been written");
	lz_put(&b, w->tail.p + w->tail.len - len, len);
	return lz_worker_push(w->worker, &w->streams[0]->out, &f, &b);
}

static int end_part(struct lz_writer *w)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	rc = lz_writer_push_events(w);
	if (rc == 0)
		rc = lz_writer_push_chunk(w);
	lz_writer_forget_chunks(w);
	for (uint32_t i = 0; rc == 0 && i < w->n_streams; i++)
		rc = lz_writer_push_markers(w, w->streams[i]);
	pthread_mutex_unlock(&w->lock);
	return rc;
}

static struct lz_part *make_part(struct lz_writer *w, const struct lz_checkpoint *ck)
{
	struct lz_part *p = calloc(1, sizeof(*p));

	if (!p) {
		lz_fail("no memory for a part of the recording");
		return NULL;
	}
	p->parts = w->parts;
	p->number = lz_parts_next(w->parts);
	if (list_outs(w, p) < 0 || let_copies_go(w, ck, p) < 0) {
		lz_part_free(p);
		return NULL;
	}
	return p;
}

int lz_writer_part_begin(struct lz_writer *w, const struct lz_checkpoint *ck)
{
	struct lz_part *p;

	if (w->parts && !w->n_checkpoints)
		note_first_files(w, ck);
	if (!ck->whole || !lz_writer_part_due(w))
		return 0;
	if (end_part(w) < 0 || !(p = make_part(w, ck)))
		return -1;
	if (lz_worker_call(w->worker, lz_parts_begin, p) < 0 || push_files(w) < 0 ||
	    push_buffer(w, &ck->threads[0]) < 0)
		return -1;
	return 1;
}
