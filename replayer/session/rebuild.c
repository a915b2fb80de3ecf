/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/session/rebuild.h"
#include "replayer/engine/engine.h"
#include "replayer/session/rebuild_store.h"
#include <common/progress.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* On disk; LIZARD_FLOW_CACHE says another number. */
enum { STORE_MB = 1024 };

struct lz_rebuild {
	struct lz_reader *of;      /* whose stream it is */
	const _Atomic bool *heard; /* an interrupt that came between two runs */
	struct lz_replay rp;       /* with the own reader; NULL there: not begun */
	struct lz_store *store;
	/* at the end of what was computed last: the next is often what follows */
	struct lz_engine *e;
	uint8_t *block; /* the one that is coming */
	uint32_t wanted;
	uint8_t *out; /* the wanted one goes there; NULL: it has */
	uint64_t from, to;
	struct lz_progress progress;
	bool told; /* that something could not be kept */
};

/* ---- beginning ---- */

static uint64_t store_limit(void)
{
	const char *text = getenv("LIZARD_FLOW_CACHE");
	unsigned long long mb = text ? strtoull(text, NULL, 10) : 0;

	return (mb && mb < 1u << 30 ? mb : STORE_MB) << 20;
}

static uint64_t longest_block(const struct lz_reader *r, uint32_t tid)
{
	uint64_t start, len, longest = 0;

	for (uint32_t i = 0; i < lz_reader_n_blocks(r, tid); i++)
		if (lz_reader_block(r, tid, i, &start, &len) == 0 && len > longest)
			longest = len;
	return longest;
}

static void undo(struct lz_rebuild *rb)
{
	lz_store_free(rb->store);
	rb->store = NULL;
	free(rb->block);
	rb->block = NULL;
	lz_replay_free(&rb->rp);
}

static int prepare(struct lz_rebuild *rb, struct lz_reader *r)
{
	if (lz_replay_init(&rb->rp, r) < 0)
		return -1;
	rb->block = malloc(longest_block(r, rb->rp.tid) + 1);
	if (!rb->block)
		return lz_fail("out of memory");
	rb->store =
	    lz_store_new(lz_reader_dir(r), lz_reader_n_blocks(r, rb->rp.tid), store_limit());
	return rb->store ? 0 : -1;
}

static int begin(struct lz_rebuild *rb)
{
	if (rb->rp.reader)
		return 0;
	if (lz_host_check(lz_reader_meta(rb->of)) < 0)
		return -1;
	struct lz_reader *r = lz_reader_again(rb->of);
	if (!r)
		return -1;
	lz_stub_pin(lz_reader_meta(r));
	if (prepare(rb, r) == 0)
		return 0;
	undo(rb);
	lz_reader_close(r);
	return -1;
}

/* While it was still being recorded parts of it may have gone: then its blocks have other
 * numbers. */
static int check_same(const struct lz_rebuild *rb, uint32_t block, uint64_t start, uint64_t len)
{
	uint64_t own_start, own_len;

	if (lz_reader_block(rb->rp.reader, rb->rp.tid, block, &own_start, &own_len) == 0 &&
	    own_start == start && own_len == len)
		return 0;
	return lz_fail("the recording has changed since it was opened: open it again");
}

/* ---- the run ---- */

/* An engine's tap. */
static int collect(void *arg, uint64_t at, const uint8_t *bytes, size_t len, bool complete)
{
	struct lz_rebuild *rb = arg;
	struct lz_replay *rp = &rb->rp;
	uint32_t i = lz_reader_block_of(rp->reader, rp->tid, at);
	uint64_t start, size;

	if (lz_reader_block(rp->reader, rp->tid, i, &start, &size) < 0)
		return -1;
	memcpy(rb->block + (at - start), bytes, len);
	lz_progress_show(&rb->progress, at - rb->from);
	if (!complete)
		return 0;
	if (i == rb->wanted && rb->out) {
		memcpy(rb->out, rb->block, size);
		rb->out = NULL;
	}
	if (lz_store_put(rb->store, i, rb->block, size) < 0 && !rb->told) {
		rb->told = true;
		lz_progress_end(&rb->progress);
		lz_warn("%s: what is computed again is computed each time, and moves that need it "
		        "take much longer",
		        lz_error());
	}
	return 0;
}

static int run(struct lz_rebuild *rb)
{
	struct lz_engine *e = rb->e;
	struct lz_halt h;

	while (e->marker < rb->to) {
		e->want.marker = rb->to;
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return lz_fail("interrupted while the control flow was computed again");
		if (h.flags & LZ_HALT_DIVERGED)
			return lz_fail("replay diverged: %s", rb->rp.divergence);
		if (h.flags & LZ_HALT_END ||
		    (h.flags & LZ_HALT_EVENT && e->event == rb->rp.end.event))
			break;
		if (h.flags & LZ_HALT_EVENT && lz_engine_apply(e, NULL) < 0)
			return -1;
	}
	return rb->out ? lz_fail("replay does not come to the markers that were asked for") : 0;
}

/* From the engine that there is, if it has not gone past, or from the checkpoint. */
static int engine_for(struct lz_rebuild *rb, uint64_t start, uint32_t index, uint64_t marker)
{
	if (rb->e && rb->e->marker <= start && rb->e->marker >= marker)
		return 0;
	lz_engine_free(rb->e);
	rb->e = lz_engine_new(&rb->rp, index);
	if (!rb->e)
		return -1;
	rb->e->tap.fn = collect;
	rb->e->tap.arg = rb;
	return 0;
}

/* Up to the checkpoint behind START, but in whole blocks. */
static int find_end(struct lz_rebuild *rb, uint64_t start, uint32_t index)
{
	struct lz_reader *r = rb->rp.reader;
	uint32_t n = lz_reader_n_checkpoints(r);
	uint64_t block, len;

	rb->to = rb->rp.stream_len;
	for (uint32_t i = index + 1; i < n; i++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);
		if (!ck)
			return -1;
		if (ck->pos.marker <= start || ck->pos.marker >= rb->to)
			continue;
		uint32_t last = lz_reader_block_of(r, rb->rp.tid, ck->pos.marker - 1);
		if (lz_reader_block(r, rb->rp.tid, last, &block, &len) < 0)
			return -1;
		rb->to = block + len;
		break;
	}
	return 0;
}

static int compute(struct lz_rebuild *rb, uint32_t block)
{
	struct lz_reader *r = rb->rp.reader;
	uint64_t start, len;

	if (lz_reader_block(r, rb->rp.tid, block, &start, &len) < 0)
		return -1;
	uint32_t index = lz_reader_checkpoint_before(r, UINT64_MAX, start);
	const struct lz_checkpoint *ck =
	    index < lz_reader_n_checkpoints(r) ? lz_reader_checkpoint(r, index) : NULL;
	if (!ck || ck->pos.marker > start)
		return lz_fail("no checkpoint lies before the markers from %lu on",
		               (unsigned long)start);
	rb->wanted = block;
	lz_progress_begin(&rb->progress, "computing the control flow again", 0);
	rb->rp.interrupted = rb->heard && *rb->heard;
	if (find_end(rb, start, index) < 0 || engine_for(rb, start, index, ck->pos.marker) < 0)
		return -1;
	rb->from = rb->e->marker;
	rb->progress.total = rb->to - rb->from;
	int ret = run(rb);
	lz_progress_end(&rb->progress);
	if (ret < 0) {
		lz_engine_free(rb->e);
		rb->e = NULL;
	}
	return ret;
}

static int rebuild(void *arg, uint32_t tid, uint32_t block, uint8_t *buf)
{
	struct lz_rebuild *rb = arg;
	uint64_t start, len;

	if (!buf)
		return !rb->store || !lz_store_has(rb->store, block);
	if (lz_reader_block(rb->of, tid, block, &start, &len) < 0 || begin(rb) < 0)
		return lz_fail_in("the markers cannot be computed again");
	if (tid != rb->rp.tid)
		return lz_fail("nobody writes these markers");
	if (check_same(rb, block, start, len) < 0)
		return -1;
	int ret = lz_store_get(rb->store, block, buf, len);
	if (ret <= 0)
		return ret;
	rb->out = buf;
	ret = compute(rb, block);
	rb->out = NULL;
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
	lz_reader_on_rebuild(r, rebuild, rb);
	return rb;
}

void lz_rebuild_free(struct lz_rebuild *rb)
{
	if (!rb)
		return;
	struct lz_reader *r = rb->rp.reader;
	lz_reader_on_rebuild(rb->of, NULL, NULL);
	lz_engine_free(rb->e);
	if (r)
		undo(rb);
	lz_reader_close(r);
	free(rb);
}

void lz_rebuild_listen(struct lz_rebuild *rb, const _Atomic bool *heard)
{
	rb->heard = heard;
}

void lz_rebuild_interrupt(struct lz_rebuild *rb)
{
	rb->rp.interrupted = true;
	pid_t pid = rb->rp.running;
	if (pid > 0)
		kill(pid, SIGSTOP);
}
