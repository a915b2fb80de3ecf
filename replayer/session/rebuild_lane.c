/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/session/rebuild_lane.h"
#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <lizard/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

int lz_lane_open(struct lz_lane *lane, const struct lz_reader *of)
{
	struct lz_reader *r = lz_reader_again(of);

	if (!r)
		return -1;
	if (lz_replay_init(&lane->rp, r) == 0) {
		lane->block = malloc(LZ_BLOCK_MAX);
		if (lane->block)
			return 0;
		lz_fail("out of memory");
	}
	lane->rp.reader = r;
	lz_lane_close(lane);
	return -1;
}

void lz_lane_close(struct lz_lane *lane)
{
	struct lz_reader *r = lane->rp.reader;

	if (!r)
		return;
	lz_engine_free(lane->e);
	lane->e = NULL;
	free(lane->block);
	lane->block = NULL;
	lz_replay_free(&lane->rp);
	lz_reader_close(r);
}

void lz_lane_interrupt(struct lz_lane *lane)
{
	lane->rp.interrupted = true;
	pid_t pid = lane->rp.running;
	if (pid > 0)
		kill(pid, SIGSTOP);
}

bool lz_lane_has(const struct lz_lane *lane, uint32_t block, uint64_t start, uint64_t len)
{
	uint64_t own_start, own_len;

	return lz_reader_block(lane->rp.reader, lane->rp.tid, block, &own_start, &own_len) == 0 &&
	       own_start == start && own_len == len;
}

/* ---- a block that is complete ---- */

static void hand_over(struct lz_lane *lane, uint32_t block, size_t size)
{
	struct lz_rebuild_sink *k = lane->sink;

	pthread_mutex_lock(&k->lock);
	if (k->out && block == k->wanted) {
		memcpy(k->out, lane->block, size);
		k->out = NULL;
	}
	pthread_mutex_unlock(&k->lock);
}

/* An engine's tap. */
static int collect(void *arg, uint64_t at, const uint8_t *bytes, size_t len, bool complete)
{
	struct lz_lane *lane = arg;
	struct lz_rebuild_sink *k = lane->sink;
	struct lz_replay *rp = &lane->rp;
	uint32_t i = lz_reader_block_of(rp->reader, rp->tid, at);
	uint64_t start, size;

	if (lz_reader_block(rp->reader, rp->tid, i, &start, &size) < 0)
		return -1;
	memcpy(lane->block + (at - start), bytes, len);
	k->done += len;
	if (lane->number == 0)
		lz_progress_show(&k->progress, k->done);
	if (!complete)
		return 0;
	hand_over(lane, i, size);
	lane->block = lz_keeper_put(k->keeper, i, lane->block, size);
	return 0;
}

/* ---- the run ---- */

static int run_to(struct lz_lane *lane, uint64_t to)
{
	struct lz_engine *e = lane->e;
	struct lz_halt h;

	while (e->marker < to) {
		e->want.marker = to;
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return lz_fail("interrupted while the control flow was computed again");
		if (h.flags & LZ_HALT_DIVERGED)
			return lz_fail("replay diverged: %s", lane->rp.divergence);
		if (h.flags & LZ_HALT_END ||
		    (h.flags & LZ_HALT_EVENT && e->event == lane->rp.end.event))
			break;
		if (h.flags & LZ_HALT_EVENT && lz_engine_apply(e, NULL) < 0)
			return -1;
	}
	return 0;
}

/* From the engine that there is, if it has not gone past, or from the checkpoint. */
static int engine_for(struct lz_lane *lane, uint64_t start)
{
	struct lz_reader *r = lane->rp.reader;
	uint32_t index = lz_reader_checkpoint_before(r, UINT64_MAX, start);
	const struct lz_checkpoint *ck =
	    index < lz_reader_n_checkpoints(r) ? lz_reader_checkpoint(r, index) : NULL;

	if (!ck || ck->pos.marker > start)
		return lz_fail("no checkpoint lies before the markers from %lu on",
		               (unsigned long)start);
	if (lane->e && lane->e->marker <= start && lane->e->marker >= ck->pos.marker)
		return 0;
	lz_engine_free(lane->e);
	lane->e = lz_engine_new(&lane->rp, index);
	if (!lane->e)
		return -1;
	lane->e->buffer.want_window = true;
	lane->e->tap.fn = collect;
	lane->e->tap.arg = lane;
	lane->e->calls.until = UINT64_MAX;
	return 0;
}

static int run(struct lz_lane *lane, uint64_t from, uint64_t to)
{
	if (engine_for(lane, from) == 0 && run_to(lane, to) == 0)
		return 0;
	lz_engine_free(lane->e);
	lane->e = NULL;
	return -1;
}

int lz_lane_run(struct lz_lane *lane, uint32_t from, uint32_t to)
{
	struct lz_replay *rp = &lane->rp;
	const bool stops = rp->stop_at_calls;
	uint64_t start, last, len;

	if (lz_reader_block(rp->reader, rp->tid, from, &start, &len) < 0 ||
	    lz_reader_block(rp->reader, rp->tid, to - 1, &last, &len) < 0)
		return -1;
	rp->interrupted = false;
	if (lane->sink->interrupted)
		rp->interrupted = true;
	if (run(lane, start, last + len) == 0)
		return 0;
	/* a run in which nothing could be seen by the program has the last word */
	return rp->stop_at_calls != stops ? run(lane, start, last + len) : -1;
}

uint32_t lz_lane_stretch(struct lz_reader *r, uint32_t tid, uint32_t from, uint32_t most,
                         uint64_t ns)
{
	const uint32_t n = lz_reader_n_checkpoints(r);
	const struct lz_checkpoint *ck;
	uint64_t start, len, begun;

	if (lz_reader_block(r, tid, from, &start, &len) < 0)
		return 0;
	uint32_t i = lz_reader_checkpoint_before(r, UINT64_MAX, start);
	if (i >= n || !(ck = lz_reader_checkpoint(r, i)))
		return 0;
	begun = ck->time_ns;
	while (++i < n) {
		if (!(ck = lz_reader_checkpoint(r, i)))
			return 0;
		if (ck->pos.marker <= start || ck->time_ns - begun < ns)
			continue;
		uint32_t end = lz_reader_block_of(r, tid, ck->pos.marker - 1) + 1;
		return end < most ? end : most;
	}
	return most;
}
