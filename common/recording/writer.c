/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/array.h>
#include <common/recording/codec.h>
#include <common/recording/flowsum.h>
#include <common/recording/markers.h>
#include <common/recording/meta.h>
#include <common/recording/recdir.h>
#include <common/recording/writer.h>
#include <lizard/error.h>
#include <lizard/recording.h>

/* What will be markers-TID. */
#define NEXT_STREAM "markers-next"

/* ---- making and ending ---- */

static int open_out(struct lz_writer *w, struct lz_out *out, const char *name)
{
	out->name = strdup(name);
	out->fd = openat(w->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (!out->name || out->fd < 0)
		return lz_fail_errno("cannot create the recording's file %s", name);
	return 0;
}

static void close_out(struct lz_out *out)
{
	if (out->fd >= 0)
		close(out->fd);
	free(out->name);
}

static int make_dir(struct lz_writer *w, const char *dir, const struct lz_meta *meta)
{
	/* As it was asked for: for a script meta.program is the interpreter. */
	const char *asked = meta->argv && meta->argv[0] ? meta->argv[0] : meta->program;
	const char *program = asked && *asked ? asked : "program";

	if (dir) {
		w->dir = strdup(dir);
		if (!w->dir)
			return lz_fail("no memory");
		return lz_recdir_make(dir);
	}
	w->dir = lz_recdir_next(program);
	return w->dir ? lz_recdir_latest(w->dir, program) : -1;
}

static int open_files(struct lz_writer *w)
{
	w->dirfd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dirfd < 0 || mkdirat(w->dirfd, "files", 0700) < 0)
		return lz_fail_errno("cannot use the directory %s", w->dir);
	/* Tells readers and `lizard prune` that somebody is at work; gone with the process. */
	flock(w->dirfd, LOCK_EX | LOCK_NB);
	w->filesfd = openat(w->dirfd, "files", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->filesfd < 0)
		return lz_fail_errno("cannot use the directory %s/files", w->dir);
	if (open_out(w, &w->events, "events") < 0)
		return -1;
	return open_out(w, &w->checkpoints, "checkpoints");
}

static void writer_free(struct lz_writer *w)
{
	if (w->worker)
		lz_worker_stop(w->worker);
	for (uint32_t i = 0; i < w->n_streams; i++) {
		close_out(&w->streams[i]->out);
		lz_buf_free(&w->streams[i]->buf);
		free(w->streams[i]);
	}
	free(w->streams);
	free(w->threads);
	for (uint32_t i = 0; i < w->n_files; i++)
		lz_known_file_free(&w->files[i]);
	lz_parts_free(w->parts);
	lz_buf_free(&w->tail);
	close_out(&w->events);
	close_out(&w->checkpoints);
	if (w->dirfd >= 0) {
		lz_meta_unreserve(w->dirfd);
		close(w->dirfd);
	}
	if (w->filesfd >= 0)
		close(w->filesfd);
	if (w->next_stream >= 0)
		close(w->next_stream);
	lz_copystore_close(w->store);
	lz_buf_free(&w->buf);
	lz_buf_free(&w->chunk);
	lz_pagemap_free(&w->pages);
	pthread_mutex_destroy(&w->lock);
	free(w->files);
	free(w->dir);
	free(w);
}

void lz_writer_flow(struct lz_writer *w, enum lz_flow flow, uint64_t limit)
{
	lz_worker_flow(w->worker, flow, limit);
}

bool lz_writer_flow_full(const struct lz_writer *w)
{
	return lz_worker_flow_full(w->worker);
}

/* FROM: as lz_worker_hashed_from(). */
static void set_hashed(struct lz_meta *m, uint64_t from, char text[24])
{
	snprintf(text, 24, from == UINT64_MAX ? "" : "%llu", (unsigned long long)from);
	m->hashed_from = text;
}

int lz_writer_meta(struct lz_writer *w, const struct lz_meta *meta)
{
	struct lz_meta m = *meta;
	char from[24];

	set_hashed(&m, w->worker ? lz_worker_hashed_from(w->worker) : UINT64_MAX, from);
	m.version = LZ_FORMAT_VERSION;
	m.state = LZ_REC_INCOMPLETE;
	m.n_events = m.n_markers_bytes = m.n_checkpoints = 0;
	if (lz_meta_write(w->dirfd, &m) < 0)
		return -1;
	lz_meta_reserve(w->dirfd);
	return 0;
}

static struct lz_writer *writer_new(void)
{
	struct lz_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		lz_fail("no memory");
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	w->dirfd = w->filesfd = w->events.fd = w->checkpoints.fd = w->next_stream = -1;
	if ((w->worker = lz_worker_start()))
		return w;
	writer_free(w);
	return NULL;
}

struct lz_writer *lz_writer_create(const char *dir, const struct lz_meta *meta)
{
	struct lz_writer *w = writer_new();

	if (!w)
		return NULL;
	if (make_dir(w, dir, meta) == 0 && open_files(w) == 0 && lz_writer_meta(w, meta) == 0)
		return w;
	writer_free(w);
	return NULL;
}

void lz_writer_share_copies(struct lz_writer *w, const char *dir)
{
	w->store = lz_copystore_open_for(w->dirfd);
	if (!w->store && dir)
		w->store = lz_copystore_open(dir);
}

const char *lz_writer_dir(const struct lz_writer *w)
{
	return w->dir;
}

int lz_writer_pin(struct lz_writer *w, const cpu_set_t *cpus)
{
	return lz_worker_pin(w->worker, cpus);
}

void lz_writer_crowded(struct lz_writer *w, bool crowded)
{
	lz_worker_crowded(w->worker, crowded);
}

void lz_writer_ending(struct lz_writer *w)
{
	lz_worker_ending(w->worker);
}

uint64_t lz_writer_size(const struct lz_writer *w)
{
	return lz_worker_written(w->worker);
}

bool lz_writer_has_debug(const struct lz_writer *w)
{
	return w->debug;
}

int lz_writer_finish(struct lz_writer *w, const struct lz_meta *meta)
{
	struct lz_meta m = *meta;
	int rc = lz_writer_drain(w);
	struct lz_worker *worker = w->worker;
	char from[24];

	set_hashed(&m, lz_worker_hashed_from(worker), from);

	w->worker = NULL;
	if (lz_worker_stop(worker) < 0)
		rc = -1;
	m.version = LZ_FORMAT_VERSION;
	m.state = LZ_REC_COMPLETE;
	m.n_events = w->n_events;
	m.n_checkpoints = w->n_checkpoints;
	m.no_debug = !w->debug;
	m.n_markers_bytes = 0;
	for (uint32_t i = 0; i < w->n_streams; i++)
		m.n_markers_bytes += w->streams[i]->start;
	if (rc == 0)
		rc = lz_meta_write(w->dirfd, &m);
	writer_free(w);
	return rc;
}

void lz_writer_abandon(struct lz_writer *w)
{
	writer_free(w);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path);
}

void lz_writer_discard(struct lz_writer *w)
{
	char *dir = strdup(w->dir);

	writer_free(w);
	if (dir)
		nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

/* ---- markers ---- */

static int open_stream(struct lz_writer *w, struct lz_out *out, const char *name)
{
	if (w->next_stream < 0)
		return open_out(w, out, name);
	out->fd = w->next_stream;
	w->next_stream = -1;
	out->name = strdup(name);
	if (!out->name || renameat(w->dirfd, NEXT_STREAM, w->dirfd, name) < 0)
		return lz_fail_errno("cannot create the recording's file %s", name);
	return 0;
}

static struct lz_out_stream *add_stream(struct lz_writer *w, uint32_t tid)
{
	struct lz_out_stream *s = calloc(1, sizeof(*s));
	char name[32];

	if (!s || lz_extend(w->streams, w->n_streams) < 0) {
		free(s);
		lz_fail("no memory for a thread's markers");
		return NULL;
	}
	s->tid = tid;
	snprintf(name, sizeof(name), "markers-%u", tid);
	if (open_stream(w, &s->out, name) < 0) {
		close_out(&s->out);
		free(s);
		return NULL;
	}
	w->streams[w->n_streams++] = s;
	return s;
}

static struct lz_out_stream *get_stream(struct lz_writer *w, uint32_t tid)
{
	if (w->last_stream < w->n_streams && w->streams[w->last_stream]->tid == tid)
		return w->streams[w->last_stream];
	for (uint32_t i = 0; i < w->n_streams; i++) {
		if (w->streams[i]->tid == tid) {
			w->last_stream = i;
			return w->streams[i];
		}
	}
	return add_stream(w, tid);
}

int lz_writer_push_markers(struct lz_writer *w, struct lz_out_stream *s)
{
	struct lz_frame f = {.type = LZ_FRAME_MARKERS, .key0 = s->start};

	if (!s->buf.len)
		return 0;
	s->start += s->buf.len;
	return lz_worker_push(w->worker, &s->out, &f, &s->buf);
}

static int put_markers(struct lz_writer *w, uint32_t tid, const void *bytes, size_t len)
{
	struct lz_out_stream *s = get_stream(w, tid);

	if (!s || lz_worker_check(w->worker) < 0)
		return -1;
	if (len > LZ_BLOCK_MAX)
		return lz_fail("%zu bytes of markers at once: %d are the limit", len, LZ_BLOCK_MAX);
	if (s->buf.len + len > LZ_BLOCK_MAX && lz_writer_push_markers(w, s) < 0)
		return -1;
	if (!s->buf.p)
		lz_worker_spare(w->worker, LZ_BLOCK_MAX, &s->buf);
	lz_put(&s->buf, bytes, len);
	if (w->parts)
		lz_writer_keep_tail(w, bytes, len);
	return s->buf.failed || w->tail.failed ? lz_fail("no memory for markers") : 0;
}

int lz_writer_markers(struct lz_writer *w, uint32_t tid, const void *bytes, size_t len)
{
	pthread_mutex_lock(&w->lock);
	int ret = put_markers(w, tid, bytes, len);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

static int put_sum(struct lz_writer *w, uint32_t tid, const uint8_t *bytes, uint32_t len)
{
	struct lz_out_stream *s = get_stream(w, tid);
	struct lz_buf none = {0};

	if (!s || lz_writer_push_markers(w, s) < 0)
		return -1;
	struct lz_frame f = {.type = LZ_FRAME_HASHED,
	                     .flags = LZ_HASHED_XXH3,
	                     .key0 = s->start,
	                     .key1 = lz_flow_sum_of(bytes, len),
	                     .count = len};
	s->start += len;
	return lz_worker_push(w->worker, &s->out, &f, &none);
}

/* Code that uses r15 for something else does so all the time. To parse all takes several times as
 * long as the sum. */
static bool begins_with_markers(const void *bytes, uint32_t len)
{
	enum { LOOKED_AT = 16384 };

	if (len <= LOOKED_AT)
		return lz_markers_end(bytes, 0, len) == len;
	return lz_markers_end(bytes, 0, LOOKED_AT) + LZ_MARKER_MAX_SIZE > LOOKED_AT;
}

int lz_writer_sum_markers(struct lz_writer *w, uint32_t tid, const void *bytes, uint32_t len)
{
	if (!begins_with_markers(bytes, len))
		return lz_fail("the marker stream is broken: is there code that uses r15?");
	pthread_mutex_lock(&w->lock);
	int ret = put_sum(w, tid, bytes, len);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

bool lz_writer_only_sums(struct lz_writer *w)
{
	return lz_worker_only_sums(w->worker);
}

/* ---- events ---- */

int lz_writer_push_events(struct lz_writer *w)
{
	struct lz_frame f = {.type = LZ_FRAME_EVENTS,
	                     .flags = w->plain ? LZ_EVENTS_PLAIN : 0,
	                     .key0 = w->first,
	                     .key1 = w->first_marker,
	                     .count = (uint32_t)(w->n_events - w->first)};

	if (!w->buf.len)
		return 0;
	w->first = w->n_events;
	/* events refer to what is in front of them */
	return lz_writer_push_chunk(w) < 0 ? -1
	                                   : lz_worker_push(w->worker, &w->events, &f, &w->buf);
}

static int check_event(const struct lz_event *ev)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ev->n_writes; i++) {
		if (ev->writes[i].len > LZ_MAX_EVENTS_RAW)
			bytes = LZ_MAX_EVENTS_RAW;
		bytes += ev->writes[i].len;
	}
	if (bytes > LZ_MAX_EVENTS_RAW - (16u << 20))
		return lz_fail("an event that changed %llu bytes of memory cannot be recorded",
		               (unsigned long long)bytes);
	if (ev->xstate_len > LZ_MAX_XSTATE)
		return lz_fail("%u bytes of register state cannot be recorded", ev->xstate_len);
	return 0;
}

static struct lz_thread_events *add_thread(struct lz_writer *w, uint32_t tid)
{
	if (lz_extend(w->threads, w->n_threads) < 0) {
		lz_fail("no memory for a thread's events");
		return NULL;
	}
	w->last_thread = w->n_threads++;
	w->threads[w->last_thread] = (struct lz_thread_events){.tid = tid};
	return &w->threads[w->last_thread];
}

static struct lz_thread_events *events_of(struct lz_writer *w, uint32_t tid)
{
	if (w->last_thread < w->n_threads && w->threads[w->last_thread].tid == tid)
		return &w->threads[w->last_thread];
	for (uint32_t i = w->n_threads; i-- > 0;) {
		if (w->threads[i].tid != tid)
			continue;
		w->last_thread = i;
		return &w->threads[i];
	}
	return add_thread(w, tid);
}

/* A program may start any number of threads, one after the other. */
static void forget_ended(struct lz_writer *w, struct lz_thread_events *t, const struct lz_event *ev)
{
	if (t->ended && ev->kind == LZ_EV_SWITCH)
		*t = w->threads[--w->n_threads];
	else
		t->ended = ev->flags & LZ_EVF_THREAD_END;
}

/* The stream has the name of the first thread that anything happens to; it is there from then on,
 * even if empty. */
static int first_stream(struct lz_writer *w, uint32_t tid)
{
	if (w->n_events)
		return 0;
	pthread_mutex_lock(&w->lock);
	struct lz_out_stream *s = w->n_streams ? w->streams[0] : add_stream(w, tid);
	pthread_mutex_unlock(&w->lock);
	return s ? 0 : -1;
}

int lz_writer_event(struct lz_writer *w, struct lz_event *ev)
{
	struct lz_thread_events *t = events_of(w, ev->tid);

	if (!t || first_stream(w, ev->tid) < 0 || lz_worker_check(w->worker) < 0 ||
	    check_event(ev) < 0)
		return -1;
	if (!w->buf.len) {
		w->first_marker = ev->marker;
		w->plain = true;
	}
	w->plain = w->plain && lz_event_plain(ev);
	if (!w->buf.p)
		lz_worker_spare(w->worker, LZ_EVENTS_FRAME + LZ_EVENTS_FRAME / 2, &w->buf);
	ev->index = w->n_events++;
	ev->number = t->n++;
	lz_event_put(&w->buf, ev);
	forget_ended(w, t, ev);
	if (w->buf.failed)
		return lz_fail("no memory for an event");
	return w->buf.len >= LZ_EVENTS_FRAME ? lz_writer_push_events(w) : 0;
}

/* ---- checkpoints ---- */

static int check_checkpoint(const struct lz_checkpoint *ck)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < ck->n_vmas; i++) {
		const struct lz_vma *v = &ck->vmas[i];

		if ((v->start | v->end) % LZ_PAGE || v->start < last || v->end <= v->start)
			return lz_fail("a checkpoint's mappings are not sorted");
		last = v->end;
	}
	for (uint32_t i = 0; i < ck->n_dirty; i++)
		if (ck->dirty[i] % LZ_PAGE || (i && ck->dirty[i] <= ck->dirty[i - 1]))
			return lz_fail("a checkpoint's dirty pages are not sorted");
	return 0;
}

static int put_page(struct lz_writer *w, struct lz_buf *b, uint64_t addr, const uint8_t *page,
                    const uint8_t *prev)
{
	uint8_t **held = lz_pagemap_at(&w->pages, addr);
	bool xored = held && *held && prev;

	if (!held)
		return lz_fail("no memory for a checkpoint");
	*held = page ? (uint8_t *)w : NULL;
	if (!page) {
		lz_put_u8(b, LZ_PAGE_GONE);
		return 0;
	}
	lz_put_u8(b, xored ? LZ_PAGE_XOR : LZ_PAGE_NEW);
	if (!xored)
		lz_put(b, page, LZ_PAGE);
	else if (lz_buf_room(b, LZ_PAGE)) {
		lz_xor_pages(b->p + b->len, page, prev);
		b->len += LZ_PAGE;
	}
	return 0;
}

static int push_pages(struct lz_writer *w, const struct lz_checkpoint *ck, uint32_t first,
                      const uint8_t *const *pages, const uint8_t *const *prev)
{
	uint32_t left = ck->n_dirty - first;
	uint32_t n = left < LZ_PAGES_FRAME ? left : LZ_PAGES_FRAME;
	struct lz_frame f = {.type = LZ_FRAME_PAGES, .count = n, .key0 = ck->index, .key1 = first};
	struct lz_buf b = {0};

	lz_worker_spare(w->worker, (size_t)n * (LZ_PAGE + 1), &b);
	for (uint32_t i = first; i < first + n; i++) {
		if (put_page(w, &b, ck->dirty[i], pages[i], prev ? prev[i] : NULL) < 0) {
			lz_buf_free(&b);
			return -1;
		}
	}
	return lz_worker_push(w->worker, &w->checkpoints, &f, &b);
}

static int push_checkpoint(struct lz_writer *w, struct lz_checkpoint *ck,
                           const uint8_t *const *pages, const uint8_t *const *prev)
{
	struct lz_frame f = {.type = LZ_FRAME_HEAD,
	                     .flags = ck->whole ? LZ_HEAD_WHOLE : 0,
	                     .key0 = ck->pos.event,
	                     .key1 = ck->pos.marker,
	                     .count = ck->n_dirty};
	struct lz_buf head = {0};

	ck->index = w->n_checkpoints++;
	if (ck->whole)
		lz_pagemap_free(&w->pages);
	lz_head_put(&head, ck);
	if (lz_worker_push(w->worker, &w->checkpoints, &f, &head) < 0)
		return -1;
	for (uint32_t i = 0; i < ck->n_dirty; i += LZ_PAGES_FRAME)
		if (push_pages(w, ck, i, pages, prev) < 0)
			return -1;
	/* An instant from which replay can start is the best one to be cut back to. */
	return lz_writer_flush(w);
}

int lz_writer_checkpoint(struct lz_writer *w, struct lz_checkpoint *ck, const uint8_t *const *pages,
                         const uint8_t *const *prev)
{
	int part;

	if (lz_worker_check(w->worker) < 0 || check_checkpoint(ck) < 0)
		return -1;
	part = lz_writer_part_begin(w, ck);
	if (part < 0 || push_checkpoint(w, ck, pages, prev) < 0)
		return -1;
	return part ? lz_worker_call(w->worker, lz_parts_begun, w->parts) : 0;
}

/* ---- flush ---- */

static int by_tid(const void *a, const void *b)
{
	const struct lz_out_stream *x = *(struct lz_out_stream *const *)a,
	                           *y = *(struct lz_out_stream *const *)b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int push_sync(struct lz_writer *w)
{
	struct lz_frame f = {.type = LZ_FRAME_SYNC,
	                     .key0 = w->n_events,
	                     .key1 = w->n_checkpoints,
	                     .count = w->n_streams};
	struct lz_buf b = {0};

	if (w->n_streams)
		qsort(w->streams, w->n_streams, sizeof(struct lz_out_stream *), by_tid);
	for (uint32_t i = 0; i < w->n_streams; i++) {
		lz_put_u32(&b, w->streams[i]->tid);
		lz_put_u64(&b, w->streams[i]->start);
	}
	return lz_worker_push(w->worker, &w->events, &f, &b);
}

static int push_all(struct lz_writer *w)
{
	if (lz_writer_push_events(w) < 0)
		return -1;
	for (uint32_t i = 0; i < w->n_streams; i++)
		if (lz_writer_push_markers(w, w->streams[i]) < 0)
			return -1;
	return push_sync(w);
}

int lz_writer_flush(struct lz_writer *w)
{
	pthread_mutex_lock(&w->lock);
	int ret = push_all(w);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

int lz_writer_drain(struct lz_writer *w)
{
	return lz_writer_flush(w) < 0 ? -1 : lz_worker_drain(w->worker);
}

/* ---- made ahead ---- */

/* The files whose names are not known yet. */
static int open_nameless(struct lz_writer *w)
{
	w->next_stream =
	    openat(w->dirfd, NEXT_STREAM, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->next_stream < 0)
		return lz_fail_errno("cannot create a file for markers");
	return lz_meta_ahead(w->dirfd);
}

struct lz_writer *lz_writer_ahead(const char *dir)
{
	struct lz_writer *w = writer_new();

	if (!w)
		return NULL;
	if (mkdir(dir, 0700) < 0) {
		lz_fail_errno("cannot make the directory %s", dir);
	} else if (!(w->dir = strdup(dir))) {
		lz_fail("no memory");
		rmdir(dir);
	} else if (open_files(w) == 0 && open_nameless(w) == 0) {
		return w;
	} else {
		lz_writer_discard(w);
		return NULL;
	}
	writer_free(w);
	return NULL;
}

int lz_writer_begin(struct lz_writer *w, const char *dir, const struct lz_meta *meta)
{
	char *name = strdup(dir);

	if (!name)
		return lz_fail("no memory");
	int ret = add_stream(w, meta->tid) ? lz_writer_meta(w, meta) : -1;
	if (ret == 0 && rename(w->dir, dir) < 0)
		ret = lz_fail_errno("cannot make the directory %s", dir);
	if (ret < 0) {
		free(name);
		return -1;
	}
	free(w->dir);
	w->dir = name;
	return 0;
}
