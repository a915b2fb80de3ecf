/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>
#include <common/codec.h>
#include <common/flowsum.h>
#include <common/markers.h>
#include <common/parts.h>
#include <common/thread.h>
#include <common/worker.h>
#include <lizard/error.h>

/* Bytes that may wait; the recorded program is held up beyond. */
enum { QUEUE_MAX = 64 << 20 };

/* Bytes that wait when markers are packed by the faster LZ4: few, since what waits at the end is
 * waited for. */
enum { QUEUE_LONG = 1 << 20 };

/* Buffers that are kept for use again. */
enum { SPARES = 8, SPARE_MIN = 256 << 10, SPARE_MAX = 8 << 20 };

struct job {
	struct job *next;
	int (*call)(void *arg, bool go); /* instead of a frame */
	void *arg;
	struct lz_out *out;
	struct lz_frame frame;
	struct lz_buf raw;
};

struct lz_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct job *head, **tail;
	size_t queued, n_jobs; /* bytes, jobs: the one at work included */
	enum lz_flow flow;
	uint64_t flow_limit, markers_written, hashed_from;
	size_t queue_max;
	struct lz_parts *parts;
	uint64_t raw, packed_to, gone; /* bytes ever packed, what they became; no longer on disk */
	bool stop;
	_Atomic bool hurry;
	struct lz_buf spare[SPARES];
	unsigned n_spares;
	const char *error; /* the first one; nothing is written after it */
	char text[1024];

	/* The thread's own. */
	struct lz_packer packer;
	struct lz_buf packed, pages;
};

/* Bytes behind JOB, which is at work. */
static size_t waiting(struct lz_worker *w, const struct job *job)
{
	pthread_mutex_lock(&w->lock);
	size_t n = w->queued - job->raw.cap;
	pthread_mutex_unlock(&w->lock);
	return n;
}

/* zlib packs pages at a tenth of zstd's speed, no smaller: not while other frames wait. LZ4 packs
 * markers at two to three times zstd's speed, to twice the size: only while zstd does not keep
 * up. Where others crowd our CPU even that is too much. */
static int codec_for_markers(struct lz_worker *w, size_t waiting)
{
	if (waiting <= QUEUE_LONG)
		return LZ_CODEC_ZSTD;
	return w->hurry ? LZ_CODEC_RAW : LZ_CODEC_LZ4;
}

static int codec_for(struct lz_worker *w, const struct job *job)
{
	switch (job->frame.type) {
	case LZ_FRAME_HEAD: return LZ_CODEC_ZLIB;
	case LZ_FRAME_PAGES: return waiting(w, job) ? LZ_CODEC_ZSTD : LZ_CODEC_ZLIB;
	case LZ_FRAME_MARKERS: return codec_for_markers(w, waiting(w, job));
	case LZ_FRAME_EVENTS: return LZ_CODEC_ZSTD;
	default: return LZ_CODEC_RAW;
	}
}

/* The writer queues { kind page } with the XOR done; the run lengths are made here. */
static int encode_pages(struct lz_worker *w, struct job *job)
{
	struct lz_cur c = {.p = job->raw.p, .end = job->raw.p + job->raw.len};

	w->pages.len = 0;
	while (c.p < c.end) {
		uint8_t kind = lz_get_u8(&c);

		lz_put_u8(&w->pages, kind);
		if (kind == LZ_PAGE_GONE)
			continue;
		const uint8_t *page = lz_get(&c, LZ_PAGE);
		if (!page)
			return lz_fail("pages of a checkpoint are short");
		lz_rle_put(&w->pages, page);
	}
	return w->pages.failed ? lz_fail("no memory for a checkpoint's pages") : 0;
}

static int write_all(struct lz_out *out, struct iovec *v, int n)
{
	while (n) {
		ssize_t done = writev(out->fd, v, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return lz_fail_errno("cannot write %s", out->name);
		for (; n && (size_t)done >= v->iov_len; v++, n--)
			done -= (ssize_t)v->iov_len;
		if (n) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
	return 0;
}

/* The tracer trusts the program's pointer; code that changes it would make the stream
 * unreadable. */
static int check_markers(const struct job *job)
{
	uint32_t len = (uint32_t)job->raw.len, end = lz_markers_end(job->raw.p, 0, len);

	return end == len
	           ? 0
	           : lz_fail("the marker stream is broken at byte %llu: is there code that uses "
	                     "r15?",
	                     (unsigned long long)(job->frame.key0 + end));
}

/* Is this block of markers only to be summed? Once one is, all that follow are. */
static bool is_hashed(struct lz_worker *w, const struct lz_frame *f)
{
	pthread_mutex_lock(&w->lock);
	bool hash = w->hashed_from != UINT64_MAX || w->flow == LZ_FLOW_HASH ||
	            (w->flow == LZ_FLOW_AUTO && w->markers_written >= w->flow_limit);
	if (hash && w->hashed_from == UINT64_MAX)
		w->hashed_from = f->key0;
	pthread_mutex_unlock(&w->lock);
	return hash;
}

static void count(struct lz_worker *w, size_t raw, size_t packed, uint64_t gone)
{
	pthread_mutex_lock(&w->lock);
	w->raw += raw;
	w->packed_to += packed;
	w->gone += gone;
	pthread_mutex_unlock(&w->lock);
}

/* STORE: the payload, or NULL. */
static int append(struct lz_worker *w, struct job *job, uint8_t *header, const struct lz_buf *store)
{
	size_t len = LZ_FRAME_HEADER + (store ? store->len : 0);
	uint64_t gone = w->parts ? lz_parts_room(w->parts, len) : 0;
	struct iovec v[] = {{header, LZ_FRAME_HEADER},
	                    {store ? store->p : NULL, len - LZ_FRAME_HEADER}};

	if (write_all(job->out, v, store ? 2 : 1) < 0)
		return -1;
	count(w, job->raw.len, len, gone);
	return 0;
}

static int write_hashed(struct lz_worker *w, struct job *job)
{
	struct lz_frame *f = &job->frame;
	struct lz_flow_sum sum = LZ_FLOW_SUM_EMPTY;
	uint8_t header[LZ_FRAME_HEADER];

	lz_flow_sum_add(&sum, job->raw.p, job->raw.len);
	f->type = LZ_FRAME_HASHED;
	f->count = (uint32_t)job->raw.len;
	f->key1 = lz_flow_sum_value(&sum);
	lz_frame_pack(f, header);
	return append(w, job, header, NULL);
}

static int write_frame(struct lz_worker *w, struct job *job)
{
	struct lz_frame *f = &job->frame;
	const struct lz_buf *raw = &job->raw, *store = &w->packed;
	uint8_t header[LZ_FRAME_HEADER];

	if (f->type == LZ_FRAME_PAGES) {
		if (encode_pages(w, job) < 0)
			return -1;
		raw = &w->pages;
	}
	if (f->type == LZ_FRAME_MARKERS) {
		if (check_markers(job) < 0)
			return -1;
		if (!(f->flags & LZ_MARKERS_BUFFER) && is_hashed(w, f))
			return write_hashed(w, job);
	}
	w->packed.len = 0;
	f->codec = (uint8_t)codec_for(w, job);
	if (f->codec != LZ_CODEC_RAW &&
	    lz_pack(&w->packer, f->codec, raw->p, raw->len, &w->packed) < 0)
		return -1;
	if (f->codec == LZ_CODEC_RAW || w->packed.len >= raw->len) {
		f->codec = LZ_CODEC_RAW;
		store = raw;
	}
	f->raw_len = (uint32_t)raw->len;
	f->stored_len = (uint32_t)store->len;
	f->crc = (uint32_t)crc32_z(0, store->len ? store->p : header, store->len);
	lz_frame_pack(f, header);
	return append(w, job, header, store);
}

/* With the lock held. */
static void keep_or_free(struct lz_worker *w, struct lz_buf *b)
{
	if (b->cap < SPARE_MIN || b->cap > SPARE_MAX || w->n_spares == SPARES) {
		lz_buf_free(b);
		return;
	}
	b->len = 0;
	w->spare[w->n_spares++] = *b;
}

void lz_worker_spare(struct lz_worker *w, size_t n, struct lz_buf *raw)
{
	pthread_mutex_lock(&w->lock);
	for (unsigned i = w->n_spares; i-- > 0;) {
		if (w->spare[i].cap < n || w->spare[i].cap / 4 > n)
			continue;
		*raw = w->spare[i];
		w->spare[i] = w->spare[--w->n_spares];
		break;
	}
	pthread_mutex_unlock(&w->lock);
	lz_buf_room(raw, n);
}

static void finish_job(struct lz_worker *w, struct job *job, bool write)
{
	int rc = job->call ? job->call(job->arg, write) : write ? write_frame(w, job) : 0;

	pthread_mutex_lock(&w->lock);
	if (rc < 0) {
		snprintf(w->text, sizeof(w->text), "%s", lz_error());
		w->error = w->text;
	} else if (write && job->frame.type == LZ_FRAME_MARKERS) {
		w->markers_written += LZ_FRAME_HEADER + job->frame.stored_len;
	}
	w->queued -= job->raw.cap;
	w->n_jobs--;
	keep_or_free(w, &job->raw);
	pthread_cond_signal(&w->less);
	pthread_mutex_unlock(&w->lock);
	free(job);
}

static void *work(void *arg)
{
	struct lz_worker *w = arg;

	for (;;) {
		struct job *job;
		bool write;

		pthread_mutex_lock(&w->lock);
		while (!w->head && !w->stop)
			pthread_cond_wait(&w->more, &w->lock);
		job = w->head;
		if (job && !(w->head = job->next))
			w->tail = &w->head;
		write = !w->error;
		pthread_mutex_unlock(&w->lock);
		if (!job)
			return NULL;
		finish_job(w, job, write);
	}
}

struct lz_worker *lz_worker_start(void)
{
	struct lz_worker *w = calloc(1, sizeof(*w));

	if (!w) {
		lz_fail("no memory");
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	pthread_cond_init(&w->less, NULL);
	w->tail = &w->head;
	w->flow = LZ_FLOW_FULL;
	w->hashed_from = UINT64_MAX;
	w->queue_max = QUEUE_MAX;
	if (lz_thread_start(&w->thread, "lizard-writer", work, w) < 0) {
		free(w);
		return NULL;
	}
	return w;
}

static int locked_check(struct lz_worker *w)
{
	return w->error ? lz_fail("%s", w->error) : 0;
}

static int queue(struct lz_worker *w, struct job *job)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	while (w->queued && w->queued + job->raw.cap > w->queue_max && !w->error)
		pthread_cond_wait(&w->less, &w->lock);
	w->queued += job->raw.cap;
	w->n_jobs++;
	*w->tail = job;
	w->tail = &job->next;
	rc = locked_check(w);
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int lz_worker_push(struct lz_worker *w, struct lz_out *out, const struct lz_frame *frame,
                   struct lz_buf *raw)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job || raw->failed) {
		free(job);
		lz_buf_free(raw);
		return lz_fail("no memory to write %s", out->name);
	}
	job->out = out;
	job->frame = *frame;
	job->raw = *raw;
	memset(raw, 0, sizeof(*raw));
	return queue(w, job);
}

int lz_worker_call(struct lz_worker *w, int (*call)(void *arg, bool go), void *arg)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job) {
		call(arg, false);
		return lz_fail("no memory to write the recording");
	}
	job->call = call;
	job->arg = arg;
	return queue(w, job);
}

void lz_worker_parts(struct lz_worker *w, struct lz_parts *parts)
{
	w->parts = parts;
	if (w->queue_max > lz_parts_queue(parts))
		w->queue_max = lz_parts_queue(parts);
}

int lz_worker_check(struct lz_worker *w)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	rc = locked_check(w);
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int lz_worker_drain(struct lz_worker *w)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	while (w->n_jobs)
		pthread_cond_wait(&w->less, &w->lock);
	rc = locked_check(w);
	pthread_mutex_unlock(&w->lock);
	return rc;
}

uint64_t lz_worker_written(struct lz_worker *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = w->packed_to - w->gone;
	pthread_mutex_unlock(&w->lock);
	return n;
}

uint64_t lz_worker_expected(struct lz_worker *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = w->packed_to;
	if (w->raw)
		n += (uint64_t)((double)w->queued * (double)w->packed_to / (double)w->raw);
	pthread_mutex_unlock(&w->lock);
	return n;
}

void lz_worker_flow(struct lz_worker *w, enum lz_flow flow, uint64_t limit)
{
	pthread_mutex_lock(&w->lock);
	w->flow = flow;
	w->flow_limit = limit;
	pthread_mutex_unlock(&w->lock);
}

uint64_t lz_worker_hashed_from(struct lz_worker *w)
{
	pthread_mutex_lock(&w->lock);
	uint64_t from = w->hashed_from;
	pthread_mutex_unlock(&w->lock);
	return from;
}

void lz_worker_hurry(struct lz_worker *w, bool hurry)
{
	w->hurry = hurry;
}

int lz_worker_pin(struct lz_worker *w, const cpu_set_t *cpus)
{
	errno = pthread_setaffinity_np(w->thread, sizeof(*cpus), cpus);
	return errno ? lz_fail_errno("cannot move the writing thread to another CPU") : 0;
}

int lz_worker_stop(struct lz_worker *w)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	rc = locked_check(w);
	while (w->n_spares)
		lz_buf_free(&w->spare[--w->n_spares]);
	lz_packer_free(&w->packer);
	lz_buf_free(&w->packed);
	lz_buf_free(&w->pages);
	free(w);
	return rc;
}
