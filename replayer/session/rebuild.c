/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which blocks are computed when one is asked for: its interval between two checkpoints; more if
 * more are expected, or if intervals are asked for one behind the other. */
#include "replayer/session/rebuild.h"
#include "replayer/session/rebuild_batch.h"
#include <common/recording/codec.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <stdlib.h>
#include <string.h>

/* On disk; LIZARD_FLOW_CACHE says another number. */
enum { INDEX_MB = 2048, STORE_MB = 1024 };

struct span {
	uint32_t from, to;
};

struct lz_rebuild {
	struct lz_reader *of;      /* whose stream it is */
	const _Atomic bool *heard; /* an interrupt that came between two runs */
	struct lz_rebuild_sink sink;
	struct lz_lane lanes[LZ_LANES]; /* the first one is open from the first request on */
	struct span last;               /* what was computed last */
	bool alone;                     /* something has failed: one interval at a time */
};

/* ---- beginning ---- */

static uint64_t cache_limit(uint64_t usual_mb)
{
	const char *text = getenv("LIZARD_FLOW_CACHE");
	unsigned long long mb = text ? strtoull(text, NULL, 10) : 0;

	return (mb && mb < 1u << 30 ? mb : usual_mb) << 20;
}

static int begin(struct lz_rebuild *rb)
{
	if (rb->lanes->rp.reader)
		return 0;
	if (lz_host_check(lz_reader_meta(rb->of)) < 0)
		return -1;
	lz_stub_pin(lz_reader_meta(rb->of));
	if (lz_lane_open(rb->lanes, rb->of) < 0)
		return -1;
	rb->sink.keeper = lz_keeper_new(&rb->sink, rb->of, rb->lanes->rp.tid);
	if (rb->sink.keeper)
		return 0;
	lz_lane_close(rb->lanes);
	return -1;
}

/* While it was still being recorded parts of it may have gone: then its blocks have other
 * numbers. */
static int check_same(const struct lz_rebuild *rb, uint32_t block, uint64_t start, uint64_t len)
{
	if (lz_lane_has(rb->lanes, block, start, len))
		return 0;
	return lz_fail("the recording has changed since it was opened: open it again");
}

/* ---- how much ---- */

/* Up to TO, but no more than can be kept. */
static uint32_t bound(struct lz_rebuild *rb, uint32_t from, uint32_t to)
{
	struct lz_rebuild_sink *k = &rb->sink;
	pthread_mutex_lock(&k->lock);
	uint64_t room = k->why_not ? k->store_limit / 2 : k->index_limit;
	pthread_mutex_unlock(&k->lock);
	uint64_t start, len, first = 0;

	for (uint32_t i = from; i < to; i++) {
		if (lz_reader_block(rb->of, rb->lanes->rp.tid, i, &start, &len) < 0)
			return i;
		first = i == from ? start : first;
		if (start + len - first > room)
			return i;
	}
	return to;
}

static bool is_behind(const struct span *last, uint32_t block)
{
	return last->to && block >= last->to && block - last->to <= last->to - last->from;
}

static bool is_before(const struct span *last, uint32_t block)
{
	return last->to && block < last->from && last->from - block <= last->to - last->from;
}

/* Who goes on in one direction gets twice as much each time. */
static void widen(const struct lz_rebuild *rb, uint32_t block, struct span *s)
{
	const uint32_t n = lz_reader_n_blocks(rb->of, rb->lanes->rp.tid);
	const uint32_t more = 2 * (rb->last.to - rb->last.from);

	if (is_behind(&rb->last, block) && more > s->to - block)
		s->to = n - block < more ? n : block + more;
	else if (is_before(&rb->last, block))
		s->from = block < more ? 0 : block + 1 - more;
}

/* The interval that BLOCK lies in, from it on. */
static int interval(struct lz_rebuild *rb, uint32_t block, struct span *s)
{
	struct lz_reader *r = rb->lanes->rp.reader;
	const uint32_t tid = rb->lanes->rp.tid;

	s->from = block;
	s->to = lz_lane_stretch(r, tid, block, lz_reader_n_blocks(r, tid), 0);
	return s->to > block ? 0 : -1;
}

static uint64_t missing(struct lz_rebuild *rb, const struct span *s)
{
	const uint32_t tid = rb->lanes->rp.tid;
	uint64_t start, len, bytes = 0;

	for (uint32_t i = s->from; i < s->to; i++)
		if (!lz_reader_block_at_hand(rb->of, tid, i) &&
		    lz_reader_block(rb->of, tid, i, &start, &len) == 0)
			bytes += len;
	return bytes;
}

/* ---- computing ---- */

static int compute_one(struct lz_rebuild *rb, const struct span *s)
{
	rb->last = *s;
	lz_keeper_begin(rb->sink.keeper, 1);
	int ret = lz_lane_run(rb->lanes, s->from, s->to);
	lz_keeper_end(rb->sink.keeper);
	return ret;
}

static int compute_many(struct lz_rebuild *rb, const struct span *s)
{
	rb->last = *s;
	return lz_rebuild_batch(rb->lanes, rb->of, s->from, s->to);
}

/* Another CPU than the recording's may be what a program cannot bear: what failed is tried again
 * on that one alone, and its error counts. */
static int compute(struct lz_rebuild *rb, uint32_t block)
{
	struct lz_rebuild_sink *k = &rb->sink;
	struct span one, all;

	if (interval(rb, block, &one) < 0)
		return -1;
	all = one;
	const uint32_t expected = lz_reader_expected(rb->of, rb->lanes->rp.tid, block);
	if (expected > all.to)
		all.to = expected;
	else
		widen(rb, block, &all);
	all.to = bound(rb, all.from, all.to);
	bool many = !rb->alone && all.to > block && (all.from < one.from || all.to > one.to);

	k->done = 0;
	lz_progress_begin(&k->progress, "computing the control flow again",
	                  missing(rb, many ? &all : &one));
	k->interrupted = rb->heard && *rb->heard;
	rb->alone |= many && compute_many(rb, &all) < 0 && !k->interrupted;
	int ret = k->out && !k->interrupted ? compute_one(rb, &one) : 0;
	lz_progress_end(&k->progress);
	if (ret < 0 || !k->out)
		return ret;
	return k->interrupted ? lz_fail("interrupted while the control flow was computed again")
	                      : lz_fail("replay does not come to the markers that were asked for");
}

static bool is_there(struct lz_rebuild_sink *k, uint32_t block)
{
	if (k->keeper && lz_keeper_has(k->keeper, block))
		return true;
	pthread_mutex_lock(&k->lock);
	bool has = k->store && lz_store_has(k->store, block);
	pthread_mutex_unlock(&k->lock);
	return has;
}

/* What was computed before. 1: it was not, or is gone. */
static int take(struct lz_rebuild_sink *k, uint32_t block, uint8_t *buf, uint64_t len)
{
	int ret = lz_keeper_get(k->keeper, block, buf, len);

	if (ret != 1)
		return ret;
	pthread_mutex_lock(&k->lock);
	ret = k->store ? lz_store_get(k->store, block, buf, len) : 1;
	pthread_mutex_unlock(&k->lock);
	return ret;
}

static int rebuild(void *arg, uint32_t tid, uint32_t block, uint8_t *buf)
{
	struct lz_rebuild *rb = arg;
	struct lz_rebuild_sink *k = &rb->sink;
	uint64_t start, len;

	if (!buf)
		return !is_there(k, block);
	if (lz_reader_block(rb->of, tid, block, &start, &len) < 0 || begin(rb) < 0)
		return lz_fail_in("the markers cannot be computed again");
	if (tid != rb->lanes->rp.tid)
		return lz_fail("nobody writes these markers");
	if (check_same(rb, block, start, len) < 0)
		return -1;
	int ret = take(k, block, buf, len);
	if (ret != 1)
		return ret;
	k->wanted = block;
	k->out = buf;
	ret = compute(rb, block);
	k->out = NULL;
	return ret;
}

/* ---- life ---- */

struct lz_rebuild *lz_rebuild_new(struct lz_reader *r)
{
	struct lz_rebuild *rb = calloc(1, sizeof *rb);

	if (!rb) {
		lz_fail("out of memory");
		return NULL;
	}
	rb->of = r;
	pthread_mutex_init(&rb->sink.lock, NULL);
	/* packs a third as well as zstd, in half of the time */
	rb->sink.codec = LZ_CODEC_LZ4;
	rb->sink.index_limit = cache_limit(INDEX_MB);
	rb->sink.store_limit = cache_limit(STORE_MB);
	for (unsigned i = 0; i < LZ_LANES; i++) {
		rb->lanes[i].sink = &rb->sink;
		rb->lanes[i].number = i;
	}
	lz_reader_on_rebuild(r, rebuild, rb);
	return rb;
}

void lz_rebuild_free(struct lz_rebuild *rb)
{
	if (!rb)
		return;
	lz_reader_on_rebuild(rb->of, NULL, NULL);
	lz_lane_close(rb->lanes);
	lz_keeper_free(rb->sink.keeper);
	lz_store_free(rb->sink.store);
	pthread_mutex_destroy(&rb->sink.lock);
	free(rb->sink.why_not);
	free(rb);
}

void lz_rebuild_ahead(struct lz_rebuild *rb, uint64_t limit)
{
	rb->sink.codec = LZ_CODEC_ZSTD;
	rb->sink.ahead = true;
	if (limit)
		rb->sink.index_limit = limit;
}

const char *lz_rebuild_not_kept(const struct lz_rebuild *rb)
{
	return rb->sink.why_not;
}

void lz_rebuild_listen(struct lz_rebuild *rb, const _Atomic bool *heard)
{
	rb->heard = heard;
}

void lz_rebuild_interrupt(struct lz_rebuild *rb)
{
	rb->sink.interrupted = true;
	for (unsigned i = 0; i < LZ_LANES; i++)
		lz_lane_interrupt(&rb->lanes[i]);
}
