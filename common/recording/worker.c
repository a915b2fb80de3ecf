/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <libdeflate.h>
#include <common/recording/codec.h>
#include <common/recording/flowkeep.h>
#include <common/recording/flowsum.h>
#include <common/recording/markers.h>
#include <common/recording/parts.h>
#include <common/base/thread.h>
#include <common/recording/worker.h>
#include <lizard/error.h>

/* Bytes that may wait; the recorded program is held up beyond. */
enum { QUEUE_MAX = 64 << 20 };

/* Bytes that wait when markers and events are packed by the faster LZ4: few, since what waits at the end is
 * waited for. */
enum { QUEUE_LONG = 1 << 20 };

/* LZ4's haste with events once half of the queue is full, so that the program is soon held up, and
 * where no CPU is idle, as packing takes the program's time there. Of programs and libraries it then
 * packs three times as much in the same time, to 1.3 times the size. */
enum { HASTE = 16 };

/* Bytes of markers that are held back when only their checksum is to be kept: if the recording ends
 * before the next SYNC, they are stored, since most who look begin at the end. */
enum { HELD_MAX = 32 << 20 };

/* Buffers that are kept for use again. */
enum { SPARES = 8, SPARE_MIN = 256 << 10, SPARE_MAX = 8 << 20 };

/* A thread costs a short recording more than it is worth: up to so many bytes in all, in small
 * frames, whoever pushes writes by himself. What is at once on its way to the file needs no
 * tick, so a recorder that is killed leaves as much behind. */
enum { ALONE_FRAME = 64 << 10, ALONE_MAX = 512 << 10 };

struct job {
	struct job *next;
	int (*call)(void *arg, bool go); /* instead of a frame */
	void *arg;
	struct lz_out *out;
	struct lz_frame frame;
	struct lz_buf raw;
	bool held;
};

struct lz_worker {
	pthread_t thread;
	_Atomic bool started;
	bool pinned;
	cpu_set_t cpus; /* if pinned */
	size_t alone;   /* bytes written without the thread */
	pthread_mutex_t lock, writing;
	pthread_cond_t more, less;
	struct job *head, **tail;
	size_t queued, n_jobs; /* bytes, jobs: the one at work included */
	size_t queue_max;
	struct lz_flow_keep keep;
	struct lz_parts *parts;
	uint64_t raw, packed_to, gone; /* bytes ever packed, what they became; no longer on disk */
	bool stop;
	_Atomic bool crowded, ending;
	struct lz_buf spare[SPARES];
	unsigned n_spares;
	const char *_Atomic error; /* the first one; nothing is written after it */
	char text[1024];

	/* Whose who holds `writing`. */
	struct job *held, **held_tail;
	size_t n_held; /* bytes */
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

/* LZ4 packs at two to three times zstd's speed, to twice the size: for markers and events while zstd
 * does not keep up or somebody waits, for all but markers where no CPU is idle, or while there is so
 * little that zstd would take longer to begin. */
static bool in_haste(struct lz_worker *w, const struct job *job)
{
	const unsigned type = job->frame.type;

	if (type != LZ_FRAME_MARKERS && (w->crowded || !w->started))
		return true;
	if (type != LZ_FRAME_MARKERS && type != LZ_FRAME_EVENTS)
		return false;
	return job->held || waiting(w, job) > QUEUE_LONG;
}

static int codec_for(struct lz_worker *w, const struct job *job)
{
	switch (job->frame.type) {
	case LZ_FRAME_HEAD:
	case LZ_FRAME_PAGES:
	case LZ_FRAME_MARKERS:
	case LZ_FRAME_EVENTS: return in_haste(w, job) ? LZ_CODEC_LZ4 : LZ_CODEC_ZSTD;
	/* what a program reads of files comes as fast as they can be copied */
	case LZ_FRAME_CHUNK:
		return waiting(w, job) > w->queue_max / 2 ? LZ_CODEC_RAW : LZ_CODEC_LZ4;
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

static void note_hashed(struct lz_worker *w, const struct job *job)
{
	pthread_mutex_lock(&w->lock);
	lz_flow_keep_hashed(&w->keep, job->frame.key0, job->frame.count);
	pthread_mutex_unlock(&w->lock);
}

static int write_hashed(struct lz_worker *w, struct job *job)
{
	struct lz_frame *f = &job->frame;
	uint8_t header[LZ_FRAME_HEADER];

	f->type = LZ_FRAME_HASHED;
	f->flags = LZ_HASHED_XXH3;
	f->count = (uint32_t)job->raw.len;
	f->key1 = lz_flow_sum_of(job->raw.p, job->raw.len);
	lz_frame_pack(f, header);
	note_hashed(w, job);
	return append(w, job, header, NULL);
}

static int haste_of(struct lz_worker *w, const struct job *job)
{
	if (job->frame.type != LZ_FRAME_EVENTS)
		return 0;
	return w->crowded || waiting(w, job) > w->queue_max / 2 ? HASTE : 0;
}

static int write_packed(struct lz_worker *w, struct job *job, const struct lz_buf *raw)
{
	struct lz_frame *f = &job->frame;
	const struct lz_buf *store = &w->packed;
	uint8_t header[LZ_FRAME_HEADER];

	w->packed.len = 0;
	f->codec = (uint8_t)codec_for(w, job);
	w->packer.haste = haste_of(w, job);
	if (f->codec != LZ_CODEC_RAW &&
	    lz_pack(&w->packer, f->codec, raw->p, raw->len, &w->packed) < 0)
		return -1;
	if (f->codec == LZ_CODEC_RAW || w->packed.len >= raw->len) {
		f->codec = LZ_CODEC_RAW;
		store = raw;
	}
	f->raw_len = (uint32_t)raw->len;
	f->stored_len = (uint32_t)store->len;
	f->crc = libdeflate_crc32(0, store->len ? store->p : header, store->len);
	lz_frame_pack(f, header);
	return append(w, job, header, store);
}

static int write_pages(struct lz_worker *w, struct job *job)
{
	return encode_pages(w, job) < 0 ? -1 : write_packed(w, job, &w->pages);
}

static void finish_job(struct lz_worker *w, struct job *job, int rc);

/* Writes those that are held, the oldest first, until at most LEFT bytes are; as they are with
 * STORE, else their checksums. */
static int write_held(struct lz_worker *w, size_t left, bool store)
{
	int rc = 0;

	while (rc == 0 && w->held && w->n_held > left) {
		struct job *job = w->held;

		if (!(w->held = job->next))
			w->held_tail = &w->held;
		w->n_held -= job->raw.cap;
		rc = store ? write_packed(w, job, &job->raw) : write_hashed(w, job);
		finish_job(w, job, rc);
	}
	return rc;
}

static int hold(struct lz_worker *w, struct job *job)
{
	job->held = true;
	job->next = NULL;
	*w->held_tail = job;
	w->held_tail = &job->next;
	w->n_held += job->raw.cap;
	return write_held(w, HELD_MAX, false);
}

static bool stores(struct lz_worker *w, const struct job *job)
{
	size_t behind = waiting(w, job);

	pthread_mutex_lock(&w->lock);
	bool store = lz_flow_keep_stores(&w->keep, behind, w->crowded);
	pthread_mutex_unlock(&w->lock);
	return store;
}

static int write_markers(struct lz_worker *w, struct job *job)
{
	const bool buffer = job->frame.flags & LZ_MARKERS_BUFFER;

	if (check_markers(job) < 0)
		return -1;
	if (buffer || stores(w, job))
		return write_held(w, 0, false) < 0 ? -1 : write_packed(w, job, &job->raw);
	return lz_flow_keep_holds(&w->keep) ? hold(w, job) : write_hashed(w, job);
}

/* Summed already. */
static int write_sum(struct lz_worker *w, struct job *job)
{
	uint8_t header[LZ_FRAME_HEADER];

	if (write_held(w, 0, false) < 0)
		return -1;
	lz_frame_pack(&job->frame, header);
	note_hashed(w, job);
	return append(w, job, header, NULL);
}

/* What is held comes first, so that all that a SYNC promises is there. */
static int write_sync(struct lz_worker *w, struct job *job)
{
	return write_held(w, 0, w->ending) < 0 ? -1 : write_packed(w, job, &job->raw);
}

static int write_head(struct lz_worker *w, struct job *job)
{
	pthread_mutex_lock(&w->lock);
	lz_flow_keep_checkpoint(&w->keep);
	pthread_mutex_unlock(&w->lock);
	return write_packed(w, job, &job->raw);
}

static int write_frame(struct lz_worker *w, struct job *job)
{
	switch (job->frame.type) {
	case LZ_FRAME_MARKERS: return write_markers(w, job);
	case LZ_FRAME_HASHED: return write_sum(w, job);
	case LZ_FRAME_PAGES: return write_pages(w, job);
	case LZ_FRAME_HEAD: return write_head(w, job);
	case LZ_FRAME_SYNC: return write_sync(w, job);
	default: return write_packed(w, job, &job->raw);
	}
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

/* With the lock held. */
static void note_error(struct lz_worker *w)
{
	if (w->error)
		return;
	snprintf(w->text, sizeof(w->text), "%s", lz_error());
	w->error = w->text;
}

/* RC: of its writing. */
static void finish_job(struct lz_worker *w, struct job *job, int rc)
{
	pthread_mutex_lock(&w->lock);
	if (rc < 0)
		note_error(w);
	else if (job->frame.type == LZ_FRAME_MARKERS)
		lz_flow_keep_stored(&w->keep, job->raw.len,
		                    LZ_FRAME_HEADER + job->frame.stored_len);
	keep_or_free(w, &job->raw);
	pthread_mutex_unlock(&w->lock);
	free(job);
}

static void do_job(struct lz_worker *w, struct job *job)
{
	const size_t bytes = job->raw.cap;

	pthread_mutex_lock(&w->writing);
	pthread_mutex_lock(&w->lock);
	bool write = !w->error;
	pthread_mutex_unlock(&w->lock);
	int rc = job->call ? job->call(job->arg, write) : write ? write_frame(w, job) : 0;
	if (!job->held)
		finish_job(w, job, rc);
	pthread_mutex_unlock(&w->writing);
	pthread_mutex_lock(&w->lock);
	if (rc < 0)
		note_error(w);
	w->queued -= bytes;
	w->n_jobs--;
	pthread_cond_signal(&w->less);
	pthread_mutex_unlock(&w->lock);
}

static void *work(void *arg)
{
	struct lz_worker *w = arg;

	for (;;) {
		struct job *job;

		pthread_mutex_lock(&w->lock);
		while (!w->head && !w->stop)
			pthread_cond_wait(&w->more, &w->lock);
		job = w->head;
		if (job && !(w->head = job->next))
			w->tail = &w->head;
		pthread_mutex_unlock(&w->lock);
		if (!job)
			return NULL;
		do_job(w, job);
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
	pthread_mutex_init(&w->writing, NULL);
	pthread_cond_init(&w->more, NULL);
	pthread_cond_init(&w->less, NULL);
	w->tail = &w->head;
	w->held_tail = &w->held;
	lz_flow_keep_begin(&w->keep, LZ_FLOW_FULL, 0);
	w->queue_max = QUEUE_MAX;
	return w;
}

static int locked_check(struct lz_worker *w)
{
	return w->error ? lz_fail("%s", w->error) : 0;
}

/* With the lock held. */
static int set_cpus(struct lz_worker *w)
{
	errno = pthread_setaffinity_np(w->thread, sizeof(w->cpus), &w->cpus);
	return errno ? lz_fail_errno("cannot move the writing thread to another CPU") : 0;
}

/* With the lock held. */
static bool may_be_alone(struct lz_worker *w, const struct job *job)
{
	const unsigned type = job->frame.type;

	/* nobody waits for a job that is to be done behind others */
	if (w->started || w->queued || w->n_jobs || job->call)
		return false;
	/* another thread may push the program's flow */
	if (type == LZ_FRAME_MARKERS || type == LZ_FRAME_HASHED || job->raw.len > ALONE_FRAME)
		return false;
	w->alone += job->raw.len;
	return w->alone <= ALONE_MAX;
}

/* With the lock held. */
static int start_thread(struct lz_worker *w)
{
	if (w->started)
		return 0;
	if (lz_thread_start(&w->thread, "lizard-writer", work, w) < 0)
		return -1;
	w->started = true;
	if (w->pinned && set_cpus(w) < 0)
		lz_debug("%s", lz_error());
	return 0;
}

static int queue(struct lz_worker *w, struct job *job)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	/* where there can be no thread, the program waits */
	if (may_be_alone(w, job) || start_thread(w) < 0) {
		w->queued += job->raw.cap;
		w->n_jobs++;
		pthread_mutex_unlock(&w->lock);
		do_job(w, job);
		return lz_worker_check(w);
	}
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
	/* asked for each event: its text stays what it is */
	return w->error ? lz_fail("%s", w->error) : 0;
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
	lz_flow_keep_begin(&w->keep, flow, limit);
	pthread_mutex_unlock(&w->lock);
}

uint64_t lz_worker_hashed_from(struct lz_worker *w)
{
	pthread_mutex_lock(&w->lock);
	uint64_t from = w->keep.hashed_from;
	pthread_mutex_unlock(&w->lock);
	return from;
}

bool lz_worker_only_sums(struct lz_worker *w)
{
	pthread_mutex_lock(&w->lock);
	bool only = w->crowded && !lz_flow_keep_stores(&w->keep, w->queued, true);
	pthread_mutex_unlock(&w->lock);
	return only;
}

bool lz_worker_flow_full(struct lz_worker *w)
{
	pthread_mutex_lock(&w->lock);
	bool full = w->keep.full;
	pthread_mutex_unlock(&w->lock);
	return full;
}

void lz_worker_crowded(struct lz_worker *w, bool crowded)
{
	w->crowded = crowded;
}

void lz_worker_ending(struct lz_worker *w)
{
	w->ending = true;
}

int lz_worker_pin(struct lz_worker *w, const cpu_set_t *cpus)
{
	pthread_mutex_lock(&w->lock);
	w->cpus = *cpus;
	w->pinned = true;
	int rc = w->started ? set_cpus(w) : 0;
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int lz_worker_stop(struct lz_worker *w)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	if (w->started)
		pthread_join(w->thread, NULL);
	rc = locked_check(w);
	while (w->held) {
		struct job *job = w->held;

		w->held = job->next;
		lz_buf_free(&job->raw);
		free(job);
	}
	while (w->n_spares)
		lz_buf_free(&w->spare[--w->n_spares]);
	lz_packer_free(&w->packer);
	lz_buf_free(&w->packed);
	lz_buf_free(&w->pages);
	free(w);
	return rc;
}
