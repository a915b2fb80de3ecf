/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is where: from the frame headers alone, but for the small frames of the file table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <common/base/dir.h>
#include <common/recording/parts.h>
#include <common/recording/reader.h>
#include <lizard/error.h>
#include <lizard/marker.h>

enum { MAX_STREAMS = 1 << 16, MIN_EVENT = 12 /* bytes */ };

void lz_frames_cut(struct lz_frames *fs, uint32_t n, const char *name, const char *why)
{
	char *end = NULL;

	if (asprintf(&end, "%s, byte %llu: %s", name,
	             (unsigned long long)(fs->v[n].payload - LZ_FRAME_HEADER), why) < 0)
		end = NULL;
	free(fs->end);
	fs->end = end;
	fs->n = n;
}

/* Each part has the whole table; what is gone makes room for another file. */
static int next_file(struct lz_reader *r, uint32_t frame, struct lz_buf *buf)
{
	struct lz_file *old = &r->files[r->events.v[frame].key0], now;

	if (*old->copy)
		return 0;
	if (lz_frames_read(&r->events, frame, buf) < 0 || lz_file_get(buf, &now) < 0)
		return -1;
	lz_file_free(old);
	*old = now;
	return 0;
}

static int add_file(struct lz_reader *r, uint32_t frame, struct lz_buf *buf)
{
	if (r->events.v[frame].key0 < r->n_files)
		return next_file(r, frame, buf);
	if (r->events.v[frame].key0 != r->n_files || r->n_files >= LZ_MAX_FILES)
		return lz_fail("the file table is out of order");
	if (lz_extend(r->files, r->n_files) < 0)
		return lz_fail("no memory for the file table");
	if (lz_frames_read(&r->events, frame, buf) < 0 ||
	    lz_file_get(buf, &r->files[r->n_files]) < 0)
		return -1;
	r->n_files++;
	return 0;
}

static int add_run(struct lz_reader *r, uint32_t frame)
{
	const struct lz_frame *f = &r->events.v[frame];

	if (f->key0 != r->n_events || !f->count || f->count > f->raw_len / MIN_EVENT)
		return lz_fail("the events are out of order");
	r->runs[r->n_runs++] = (struct lz_ev_run){.frame = frame,
	                                          .count = f->count,
	                                          .first = r->n_events,
	                                          .marker = f->key1,
	                                          .plain = f->flags & LZ_EVENTS_PLAIN};
	r->n_events += f->count;
	return 0;
}

static int add_chunk(struct lz_reader *r, uint32_t frame)
{
	const struct lz_frame *f = &r->events.v[frame];

	if (!r->n_chunks)
		r->first_chunk = f->key0;
	if (f->key0 != r->first_chunk + r->n_chunks || !f->raw_len)
		return lz_fail("the chunks are out of order");
	r->chunks[r->n_chunks++] = frame;
	return 0;
}

static int index_event_frame(struct lz_reader *r, uint32_t frame, struct lz_buf *buf)
{
	switch (r->events.v[frame].type) {
	case LZ_FRAME_EVENTS: return add_run(r, frame);
	case LZ_FRAME_FILE: return add_file(r, frame, buf);
	case LZ_FRAME_SYNC: r->syncs[r->n_syncs++] = frame; return 0;
	case LZ_FRAME_CHUNK: return add_chunk(r, frame);
	}
	return lz_fail("a frame of type %u does not belong here", r->events.v[frame].type);
}

int lz_index_events(struct lz_reader *r)
{
	struct lz_buf buf = {0};

	r->n_events = r->first_event;
	r->runs = calloc(r->events.n + 1u, sizeof(*r->runs));
	r->syncs = calloc(r->events.n + 1u, sizeof(*r->syncs));
	r->chunks = calloc(r->events.n + 1u, sizeof(*r->chunks));
	if (!r->runs || !r->syncs || !r->chunks)
		return lz_fail("no memory for the index of events");
	for (uint32_t i = 0; i < r->events.n; i++)
		if (index_event_frame(r, i, &buf) < 0)
			lz_frames_cut(&r->events, i, "events", lz_error());
	lz_buf_free(&buf);
	return 0;
}

/* The frame behind the checkpoint whose HEAD is frame I; 0 if its pages are not all there. */
static uint32_t pages_end(const struct lz_frames *fs, uint32_t head, uint64_t index)
{
	uint64_t have = 0;
	uint32_t i = head + 1;

	while (have < fs->v[head].count && i < fs->n) {
		const struct lz_frame *f = &fs->v[i++];

		if (f->type != LZ_FRAME_PAGES || f->key0 != index || f->key1 != have || !f->count ||
		    f->count > f->raw_len)
			return 0;
		have += f->count;
	}
	return have == fs->v[head].count ? i : 0;
}

int lz_index_checkpoints(struct lz_reader *r)
{
	struct lz_frames *fs = &r->checkpoints;
	uint64_t event = r->first_event;

	r->cks = calloc(fs->n + 1u, sizeof(*r->cks));
	if (!r->cks)
		return lz_fail("no memory for the index of checkpoints");
	for (uint32_t i = 0, end; i < fs->n; i = end) {
		const struct lz_frame *f = &fs->v[i];

		end = f->type == LZ_FRAME_HEAD && f->key0 >= event
		          ? pages_end(fs, i, r->first_ck + (uint64_t)r->n_cks)
		          : 0;
		if (end && !r->n_cks && !(f->flags & LZ_HEAD_WHOLE))
			end = 0;
		if (!end) {
			lz_frames_cut(fs, i, "checkpoints", "a checkpoint is not complete");
			break;
		}
		event = f->key0;
		r->cks[r->n_cks++] = (struct lz_ck_place){.head = i, .end = end};
	}
	return 0;
}

uint32_t lz_block_len(const struct lz_frame *f)
{
	return f->type == LZ_FRAME_HASHED ? f->count : f->raw_len;
}

static bool is_block(const struct lz_frame *f)
{
	if (f->type == LZ_FRAME_HASHED && f->flags && f->flags != LZ_HASHED_XXH64 &&
	    f->flags != LZ_HASHED_XXH3)
		return false;
	return (f->type == LZ_FRAME_MARKERS || f->type == LZ_FRAME_HASHED) && lz_block_len(f) &&
	       lz_block_len(f) <= LZ_BLOCK_MAX;
}

/* Whether F holds the first checkpoint's marker buffer, up to its position. */
static bool is_first_buffer(const struct lz_reader *r, const struct lz_frame *f)
{
	return f->type == LZ_FRAME_MARKERS && f->key0 < r->first_marker && f->raw_len &&
	       f->raw_len <= LZ_BUFFER_GUARD && f->key0 + f->raw_len == r->first_marker;
}

/* A part begins with what its first checkpoint's marker buffer holds, which the part before has,
 * too. */
static bool is_repeated(const struct lz_frame *f, const struct lz_frame *before, uint64_t len)
{
	return f->type == LZ_FRAME_MARKERS && f->fd != before->fd && f->key0 < len &&
	       f->key0 + f->raw_len == len;
}

static void index_stream(const struct lz_reader *r, struct lz_stream *s, const char *name)
{
	struct lz_frames *fs = &s->frames;
	uint32_t n = 0;

	s->start = s->len = r->first_marker;
	for (uint32_t i = 0; i < fs->n; i++) {
		const struct lz_frame f = fs->v[i];

		if (!i && is_first_buffer(r, &f)) {
			s->start = s->len = f.key0;
			s->n_before = 1;
		}
		if (i && f.flags & LZ_MARKERS_BUFFER && is_repeated(&f, &fs->v[i - 1], s->len))
			continue;
		if (!is_block(&f) || f.key0 != s->len) {
			lz_frames_cut(fs, i, name, "the markers are out of order");
			break;
		}
		s->len += lz_block_len(&f);
		fs->v[n++] = f;
	}
	fs->n = n;
}

static int add_stream(struct lz_reader *r, uint32_t tid)
{
	struct lz_stream *s;
	char name[32];

	if (lz_extend(r->streams, r->n_streams) < 0)
		return lz_fail("no memory for a thread's markers");
	s = &r->streams[r->n_streams];
	*s = (struct lz_stream){.tid = tid};
	snprintf(name, sizeof(name), "markers-%u", tid);
	if (lz_reader_open_frames(r, name, &s->frames) < 0)
		return -1;
	r->n_streams++;
	index_stream(r, s, name);
	return 0;
}

/* The thread of a file name markers-TID as the writer spells it for PART; -1 if it is something
 * else. */
static int64_t tid_of(const char *name, uint32_t part)
{
	char again[LZ_PART_NAME];
	unsigned tid;

	if (sscanf(name, "markers-%u", &tid) != 1)
		return -1;
	snprintf(again, sizeof(again), "markers-%u", tid);
	return lz_part_of(name, again) == (int64_t)part ? (int64_t)tid : -1;
}

static int by_tid(const void *a, const void *b)
{
	const struct lz_stream *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int add_streams(struct lz_reader *r, DIR *d)
{
	bool first = false;
	struct dirent *e;

	while ((e = readdir(d))) {
		int64_t tid = tid_of(e->d_name, r->first_part);

		if (tid < 0)
			continue;
		if (r->n_streams == MAX_STREAMS)
			return lz_fail("more than %d threads", MAX_STREAMS);
		if (add_stream(r, (uint32_t)tid) < 0)
			return -1;
		first |= tid == r->meta.tid;
	}
	if (!first && add_stream(r, r->meta.tid) < 0)
		return -1;
	qsort(r->streams, r->n_streams, sizeof(*r->streams), by_tid);
	return 0;
}

int lz_index_streams(struct lz_reader *r)
{
	DIR *d = lz_open_dir(r->dirfd, ".");
	int rc;

	if (!d)
		return lz_fail_errno("cannot list the directory");
	rc = add_streams(r, d);
	closedir(d);
	return rc;
}
