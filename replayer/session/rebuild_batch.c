/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/session/rebuild_batch.h"
#include <common/base/clock.h>
#include <common/base/thread.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <unistd.h>

/* Making a process of a checkpoint costs some milliseconds, and much more for a large program. */
#define SHORTEST_NS 250000000u
enum { LOOK_US = 100000, LANE_LEAST = 64 << 20 };

struct batch {
	struct lz_lane *lanes;
	struct lz_reader *of;
	pthread_mutex_t lock;
	pthread_cond_t change;
	uint32_t next, to; /* blocks that nobody has taken */
	uint64_t end_ns;
	unsigned n_lanes, running;
	bool failed;
};

/* ---- how many ---- */

/* Bytes that a lane takes: its process and its image, each with the pages that have changed. */
static uint64_t lane_bytes(struct lz_reader *r, uint32_t ck)
{
	while (ck && !lz_reader_checkpoint_whole(r, ck))
		ck--;
	const struct lz_checkpoint *whole =
	    ck < lz_reader_n_checkpoints(r) ? lz_reader_checkpoint(r, ck) : NULL;

	return LANE_LEAST + (whole ? 2 * (uint64_t)whole->n_dirty * LZ_PAGE : 0);
}

static unsigned count_lanes(struct lz_reader *r, uint64_t marker)
{
	uint64_t each = lane_bytes(r, lz_reader_checkpoint_before(r, UINT64_MAX, marker));
	uint64_t room = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * LZ_PAGE / 2 / each;
	unsigned n = 1;

	while (n < LZ_LANES && n < room && lz_stub_cpu(n) >= 0)
		n++;
	return n;
}

/* ---- who does what ---- */

/* While locked. The larger what is left, the larger is a piece. 1; 0: nothing is left. */
static int take(struct batch *b, struct lz_lane *lane, uint32_t *from, uint32_t *to)
{
	struct lz_reader *r = b->of;
	const uint32_t tid = b->lanes->rp.tid;
	const struct lz_checkpoint *ck;
	uint64_t start, len, share = SHORTEST_NS;

	while (b->next < b->to && lz_reader_block_at_hand(r, tid, b->next))
		b->next++;
	if (b->failed || lane->sink->interrupted || b->next >= b->to)
		return 0;
	if (lz_reader_block(r, tid, b->next, &start, &len) < 0 ||
	    !(ck = lz_reader_checkpoint(r, lz_reader_checkpoint_before(r, UINT64_MAX, start))))
		return -1;
	if (b->end_ns > ck->time_ns && (b->end_ns - ck->time_ns) / (2 * b->n_lanes) > share)
		share = (b->end_ns - ck->time_ns) / (2 * b->n_lanes);
	*from = b->next;
	*to = lz_lane_stretch(r, tid, *from, b->to, share);
	if (*to <= *from)
		return -1;
	b->next = *to;
	return 1;
}

static void work(struct batch *b, struct lz_lane *lane)
{
	uint32_t from, to;
	int rc;

	pthread_mutex_lock(&b->lock);
	while ((rc = take(b, lane, &from, &to)) > 0) {
		pthread_mutex_unlock(&b->lock);
		rc = lz_lane_run(lane, from, to);
		pthread_mutex_lock(&b->lock);
		if (rc < 0)
			break;
	}
	b->failed |= rc < 0;
	pthread_mutex_unlock(&b->lock);
}

/* ---- the other lanes ---- */

struct helper {
	struct batch *b;
	struct lz_lane *lane;
	pthread_t thread;
	int cpu;
};

static bool has_the_same(const struct batch *b, const struct lz_lane *lane)
{
	uint64_t start, len;

	return lz_reader_block(b->of, lane->rp.tid, b->to - 1, &start, &len) == 0 &&
	       lz_lane_has(lane, b->to - 1, start, len);
}

static void *help(void *arg)
{
	struct helper *h = arg;
	struct batch *b = h->b;

	lz_stub_pin_to(h->cpu);
	/* if it cannot, the others do its share */
	if (lz_lane_open(h->lane, b->of) < 0) {
		lz_debug("lane %u: %s", h->lane->number, lz_error());
	} else {
		lz_counter_allow(false);
		if (has_the_same(b, h->lane))
			work(b, h->lane);
		lz_counter_allow(true);
		lz_lane_close(h->lane);
	}
	pthread_mutex_lock(&b->lock);
	b->running--;
	pthread_cond_signal(&b->change);
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

static unsigned start_helpers(struct batch *b, struct helper h[LZ_LANES])
{
	unsigned n = 0;

	for (unsigned i = 1; i < b->n_lanes; i++) {
		h[n] = (struct helper){.b = b, .lane = &b->lanes[i], .cpu = lz_stub_cpu(i)};
		b->running++;
		if (lz_thread_start(&h[n].thread, "lizard-lane", help, &h[n]) == 0)
			n++;
		else
			b->running--;
	}
	return n;
}

static void wait_for_helpers(struct batch *b, struct helper h[LZ_LANES], unsigned n)
{
	struct lz_rebuild_sink *sink = b->lanes->sink;

	pthread_mutex_lock(&b->lock);
	while (b->running) {
		lz_thread_rest(&b->change, &b->lock, LOOK_US);
		lz_progress_show(&sink->progress, sink->done);
	}
	pthread_mutex_unlock(&b->lock);
	for (unsigned i = 0; i < n; i++)
		pthread_join(h[i].thread, NULL);
}

int lz_rebuild_batch(struct lz_lane lanes[LZ_LANES], struct lz_reader *of, uint32_t from,
                     uint32_t to)
{
	struct lz_reader *r = lanes->rp.reader;
	struct batch b = {.lanes = lanes, .of = of, .next = from, .to = to};
	struct helper h[LZ_LANES];
	uint64_t start, len;

	if (lz_reader_block(r, lanes->rp.tid, to - 1, &start, &len) < 0)
		return -1;
	const uint32_t last = lz_reader_checkpoint_before(r, UINT64_MAX, start);
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, last);
	if (!ck)
		return -1;
	b.end_ns = ck->time_ns;
	b.n_lanes = count_lanes(r, start);
	pthread_mutex_init(&b.lock, NULL);
	pthread_cond_init(&b.change, NULL);
	lz_keeper_begin(lanes->sink->keeper, b.n_lanes);
	unsigned n = start_helpers(&b, h);
	work(&b, lanes);
	wait_for_helpers(&b, h, n);
	lz_keeper_end(lanes->sink->keeper);
	pthread_cond_destroy(&b.change);
	pthread_mutex_destroy(&b.lock);
	return b.failed || lanes->sink->interrupted ? -1 : 0;
}
