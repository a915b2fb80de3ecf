/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/session/rebuild_keep.h"
#include <common/recording/codec.h>
#include <common/base/thread.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

/* Blocks that may wait for each thread in any case, besides the one it packs. */
enum { WAITING = 2, SPARES_MAX = WAITING * LZ_LANES };
/* New memory for a block takes 0.65 ns for each byte. So what is packed in less than SLOW_NS
 * need not wait, which is known after PROBED bytes. */
enum { SLOW_NS = 1, PROBED = 8 << 20 };
/* What may wait, and which share of the free memory. */
enum { ROOM_MB = 1024, ROOM_SHARE = 8 };

struct job {
	TAILQ_ENTRY(job) link;
	uint8_t *bytes;
	uint32_t block;
	size_t size;
	bool taken; /* by a thread that packs it */
};
TAILQ_HEAD(jobs, job);

struct hand {
	struct lz_keeper *k;
	pthread_t thread;
	struct lz_packer packer;
	struct lz_buf packed;
	size_t done; /* bytes */
	bool probed;
};

struct lz_keeper {
	struct lz_rebuild_sink *sink;
	struct lz_reader *reader; /* whose who holds `writing` */
	uint32_t tid;
	pthread_mutex_t writing;
	pthread_mutex_t lock; /* for the rest */
	pthread_cond_t more, less;
	struct jobs jobs; /* the oldest one first */
	unsigned n_jobs, room;
	uint8_t *spare[SPARES_MAX];
	unsigned n_spares;
	struct hand hand[LZ_LANES];
	unsigned n_hands;
	struct hand own; /* of who finds no thread, and holds `lock` */
	bool computing;  /* lanes run, for which somebody waits */
	bool slow;       /* what is packed takes the lanes' time */
	bool stop;
};

/* ---- one block ---- */

static int make_store(struct lz_keeper *k)
{
	struct lz_rebuild_sink *sink = k->sink;

	if (!sink->store)
		sink->store =
		    lz_store_new(lz_reader_dir(k->reader), lz_reader_n_blocks(k->reader, k->tid),
		                 sink->store_limit);
	return sink->store ? 0 : -1;
}

static void tell(struct lz_rebuild_sink *sink)
{
	if (sink->told)
		return;
	sink->told = true;
	lz_progress_end(&sink->progress);
	lz_warn("%s: what is computed again is computed each time, and moves that need it take "
	        "much longer",
	        lz_error());
}

/* What the recording does not take is kept until this process ends, while there is room. */
static void keep_for_now(struct lz_keeper *k, uint32_t block, int codec, const struct lz_buf *b)
{
	struct lz_rebuild_sink *sink = k->sink;

	pthread_mutex_lock(&sink->lock);
	if (!sink->why_not)
		sink->why_not = strdup(lz_error());
	if (make_store(k) < 0 || lz_store_put(sink->store, block, codec, b->p, b->len) < 0)
		tell(sink);
	pthread_mutex_unlock(&sink->lock);
}

/* What does not shrink stays as it is. */
static int pack(struct hand *h, int *codec, const struct job *job)
{
	struct lz_buf *b = &h->packed;

	b->len = 0;
	b->failed = false;
	if (lz_pack(&h->packer, *codec, job->bytes, job->size, b) < 0)
		return -1;
	if (b->len < job->size)
		return 0;
	*codec = LZ_CODEC_RAW;
	b->len = 0;
	return lz_pack(&h->packer, *codec, job->bytes, job->size, b);
}

/* It is looked at: what is there may be damaged. */
static bool is_kept(struct lz_keeper *k, uint32_t block)
{
	uint64_t start, len;
	uint8_t byte;

	pthread_mutex_lock(&k->writing);
	bool is = lz_reader_block_at_hand(k->reader, k->tid, block) &&
	          lz_reader_block(k->reader, k->tid, block, &start, &len) == 0 &&
	          lz_reader_markers_kept(k->reader, k->tid, start, &byte, 1) == 1;
	pthread_mutex_unlock(&k->writing);
	return is;
}

static int keep_in_recording(struct lz_keeper *k, uint32_t block, int codec, const struct lz_buf *b)
{
	pthread_mutex_lock(&k->writing);
	int rc = lz_reader_keep_computed(k->reader, k->tid, block, codec, b->p, b->len,
	                                 k->sink->index_limit);
	pthread_mutex_unlock(&k->writing);
	return rc;
}

static void keep(struct hand *h, const struct job *job)
{
	struct lz_keeper *k = h->k;
	int codec = k->sink->codec;

	if (is_kept(k, job->block))
		return;
	if (pack(h, &codec, job) < 0) {
		pthread_mutex_lock(&k->sink->lock);
		tell(k->sink);
		pthread_mutex_unlock(&k->sink->lock);
	} else if (keep_in_recording(k, job->block, codec, &h->packed) < 0) {
		keep_for_now(k, job->block, codec, &h->packed);
	}
}

/* ---- the threads ---- */

/* While locked. */
static struct job *take(struct lz_keeper *k)
{
	struct job *job = TAILQ_FIRST(&k->jobs);

	while (job && job->taken)
		job = TAILQ_NEXT(job, link);
	if (job)
		job->taken = true;
	return job;
}

/* While locked. */
static void finish(struct lz_keeper *k, struct job *job)
{
	TAILQ_REMOVE(&k->jobs, job, link);
	k->n_jobs--;
	if (k->n_spares < SPARES_MAX)
		k->spare[k->n_spares++] = job->bytes;
	else
		free(job->bytes);
	free(job);
	pthread_cond_broadcast(&k->less);
}

/* While locked. */
static bool is_full(const struct lz_keeper *k)
{
	const unsigned least = (WAITING + 1) * k->n_hands;
	const unsigned most = k->sink->ahead || k->room < least ? least : k->room;

	return k->n_jobs >= most;
}

/* While locked. Somebody waits for what the lanes compute, nobody for what is packed. A low priority
 * does not say that: the lanes' processes have sessions of their own, and the kernel shares a CPU
 * among sessions first (sched(7), autogroup). */
static bool may_pack(const struct lz_keeper *k)
{
	return k->stop || !k->computing || !k->slow || is_full(k);
}

/* While locked. Is packing slow? */
static void probe(struct hand *h, size_t size)
{
	struct timespec t;

	h->done += size;
	if (h->probed || h->done < PROBED || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0)
		return;
	h->probed = true;
	if ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec > SLOW_NS * (uint64_t)h->done)
		h->k->slow = true;
}

/* Until the keeper ends and nobody else has to begin with a block. */
static void pack_blocks(struct hand *h)
{
	struct lz_keeper *k = h->k;
	struct job *job;

	pthread_mutex_lock(&k->lock);
	for (;;) {
		while (!may_pack(k) || (!(job = take(k)) && !k->stop))
			pthread_cond_wait(&k->more, &k->lock);
		if (!job)
			break;
		pthread_mutex_unlock(&k->lock);
		keep(h, job);
		pthread_mutex_lock(&k->lock);
		probe(h, job->size);
		finish(k, job);
	}
	pthread_mutex_unlock(&k->lock);
}

static void *work(void *arg)
{
	pack_blocks(arg);
	return NULL;
}

/* While locked. Other memory than BYTES, of which a job takes care; NULL: there is none. */
static uint8_t *add(struct lz_keeper *k, uint32_t block, uint8_t *bytes, size_t size)
{
	struct job *job = k->n_hands ? calloc(1, sizeof *job) : NULL;
	uint8_t *other = !job ? NULL : k->n_spares ? k->spare[--k->n_spares] : malloc(LZ_BLOCK_MAX);

	if (!other) {
		free(job);
		return NULL;
	}
	*job = (struct job){.bytes = bytes, .block = block, .size = size};
	TAILQ_INSERT_TAIL(&k->jobs, job, link);
	k->n_jobs++;
	pthread_cond_signal(&k->more);
	return other;
}

uint8_t *lz_keeper_put(struct lz_keeper *k, uint32_t block, uint8_t *bytes, size_t size)
{
	const struct job now = {.bytes = bytes, .block = block, .size = size};

	pthread_mutex_lock(&k->lock);
	while (k->n_hands && is_full(k)) {
		pthread_cond_broadcast(&k->more);
		pthread_cond_wait(&k->less, &k->lock);
	}
	uint8_t *other = add(k, block, bytes, size);
	if (!other)
		keep(&k->own, &now);
	pthread_mutex_unlock(&k->lock);
	return other ? other : bytes;
}

/* ---- what waits ---- */

/* While locked. */
static const struct job *find(const struct lz_keeper *k, uint32_t block)
{
	const struct job *job;

	TAILQ_FOREACH(job, &k->jobs, link)
	if (job->block == block)
		return job;
	return NULL;
}

bool lz_keeper_has(struct lz_keeper *k, uint32_t block)
{
	pthread_mutex_lock(&k->lock);
	bool has = find(k, block);
	pthread_mutex_unlock(&k->lock);
	return has;
}

/* What was packed after the asking reader had looked. */
static int read_kept(struct lz_keeper *k, uint32_t block, uint8_t *buf, size_t len)
{
	uint64_t start, size;

	pthread_mutex_lock(&k->writing);
	bool is = lz_reader_block(k->reader, k->tid, block, &start, &size) == 0 && size == len &&
	          lz_reader_markers_kept(k->reader, k->tid, start, buf, len) == (int64_t)len;
	pthread_mutex_unlock(&k->writing);
	return is ? 0 : 1;
}

int lz_keeper_get(struct lz_keeper *k, uint32_t block, uint8_t *buf, size_t len)
{
	pthread_mutex_lock(&k->lock);
	const struct job *job = find(k, block);
	bool has = job && job->size == len;
	if (has)
		memcpy(buf, job->bytes, len);
	pthread_mutex_unlock(&k->lock);
	return has ? 0 : read_kept(k, block, buf, len);
}

/* ---- life ---- */

/* In blocks. */
static unsigned room(void)
{
	const uint64_t share = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * LZ_PAGE / ROOM_SHARE;
	const uint64_t most = (uint64_t)ROOM_MB << 20;

	return (unsigned)((share < most ? share : most) / LZ_BLOCK_MAX);
}

struct lz_keeper *lz_keeper_new(struct lz_rebuild_sink *sink, const struct lz_reader *r,
                                uint32_t tid)
{
	struct lz_keeper *k = calloc(1, sizeof *k);

	if (!k) {
		lz_fail("out of memory");
		return NULL;
	}
	k->sink = sink;
	k->tid = tid;
	k->own = (struct hand){.k = k, .probed = true};
	k->reader = lz_reader_again(r);
	if (!k->reader) {
		free(k);
		return NULL;
	}
	TAILQ_INIT(&k->jobs);
	k->room = room();
	pthread_mutex_init(&k->writing, NULL);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->more, NULL);
	pthread_cond_init(&k->less, NULL);
	return k;
}

static void forget_hand(struct hand *h)
{
	lz_packer_free(&h->packer);
	lz_buf_free(&h->packed);
}

/* Until all is kept, for which somebody waits now; the threads go. */
static void end_hands(struct lz_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_broadcast(&k->more);
	pthread_mutex_unlock(&k->lock);
	pack_blocks(&k->own);
	while (k->n_hands) {
		struct hand *h = &k->hand[--k->n_hands];
		pthread_join(h->thread, NULL);
		forget_hand(h);
	}
}

void lz_keeper_free(struct lz_keeper *k)
{
	if (!k)
		return;
	end_hands(k);
	while (k->n_spares)
		free(k->spare[--k->n_spares]);
	forget_hand(&k->own);
	lz_reader_close(k->reader);
	pthread_cond_destroy(&k->less);
	pthread_cond_destroy(&k->more);
	pthread_mutex_destroy(&k->lock);
	pthread_mutex_destroy(&k->writing);
	free(k);
}

void lz_keeper_begin(struct lz_keeper *k, unsigned n)
{
	cpu_set_t all;
	int cpu;

	pthread_mutex_lock(&k->lock);
	k->computing = true;
	pthread_mutex_unlock(&k->lock);
	CPU_ZERO(&all);
	for (unsigned i = 0; (cpu = lz_stub_cpu(i)) >= 0; i++)
		CPU_SET((size_t)cpu, &all);
	while (k->n_hands < n) {
		struct hand *h = &k->hand[k->n_hands];
		*h = (struct hand){.k = k, .probed = k->sink->ahead};
		if (lz_thread_start(&h->thread, "lizard-packer", work, h) < 0)
			break;
		pthread_setaffinity_np(h->thread, sizeof all, &all);
		pthread_mutex_lock(&k->lock);
		k->n_hands++;
		pthread_mutex_unlock(&k->lock);
	}
}

void lz_keeper_end(struct lz_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->computing = false;
	pthread_cond_broadcast(&k->more);
	while (k->sink->ahead && k->n_jobs)
		pthread_cond_wait(&k->less, &k->lock);
	pthread_mutex_unlock(&k->lock);
}
