/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Engines: made from checkpoints and from each other. */
#include "replayer/engine/inside.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/restore.h>
#include <lizard/syscalls.h>
#include <stdlib.h>
#include <string.h>

/* A process that is followed has a recording for each of its programs. */
static bool ends_with(const struct lz_event *ev, const struct lz_syscall *row)
{
	return (row->klass == LZ_SC_EXIT && !(ev->flags & LZ_EVF_THREAD_END)) ||
	       (row->klass == LZ_SC_EXEC && !ev->result && !(ev->flags & LZ_EVF_REBASE));
}

static void find_end(struct lz_replay *rp)
{
	uint64_t n = lz_reader_n_events(rp->reader);
	const struct lz_event *ev;

	rp->end = (struct lz_end){LZ_END_CUT, n, rp->stream_len, 0};
	if (n && (ev = lz_reader_event(rp->reader, n - 1)) && ev->kind == LZ_EV_EXIT) {
		rp->end.event = --n;
		rp->end.marker = ev->marker < rp->stream_len ? ev->marker : rp->stream_len;
	}
	if (!n || !(ev = lz_reader_event(rp->reader, n - 1)))
		return;
	const struct lz_syscall *row = ev->kind == LZ_EV_SYSCALL ? lz_syscall(ev->nr) : NULL;
	if (row && ends_with(ev, row))
		rp->end = (struct lz_end){LZ_END_CALL, n - 1, ev->marker, ev->ip - 2};
	else if (ev->kind == LZ_EV_SIGNAL && ev->flags & LZ_EVF_FATAL)
		rp->end = (struct lz_end){LZ_END_SIGNAL, n - 1, ev->marker, ev->ip};
}

static int no_checkpoint(const struct lz_reader *r)
{
	const char *damage = lz_reader_damage(r);

	if (lz_meta_never_ran(lz_reader_meta(r)))
		damage = "the process was killed before its first instruction";
	return lz_fail("the recording %s has no checkpoint: nothing can be replayed%s%s",
	               lz_reader_dir(r), damage ? "; " : "", damage ? damage : "");
}

int lz_replay_init(struct lz_replay *rp, struct lz_reader *r)
{
	const char *calls = getenv("LIZARD_REPLAY_CALLS");

	*rp = (struct lz_replay){.reader = r};
	rp->stop_at_calls = calls && !strcmp(calls, "stop");
	rp->always_answer = calls && !strcmp(calls, "answer");
	if (!lz_reader_n_checkpoints(r))
		return no_checkpoint(r);
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, 0);
	if (!ck)
		return -1;
	rp->tid = lz_reader_meta(r)->tid;
	if (lz_cpuid_answers_parse(&rp->cpuid, lz_reader_meta(r)->cpuid) < 0)
		return -1;
	rp->stream_len = lz_reader_markers_len(r, rp->tid);
	find_end(rp);
	rp->got = malloc(LZ_BUFFER_SIZE);
	rp->want = malloc(LZ_BUFFER_SIZE);
	if (!rp->got || !rp->want)
		return lz_fail("out of memory");
	rp->image = lz_image_new(r);
	return rp->image ? lz_watchdog_start(rp) : -1;
}

const struct lz_turns *lz_replay_turns(struct lz_replay *rp)
{
	if (!rp->turns.n && lz_turns_read(&rp->turns, rp->reader) < 0)
		return NULL;
	return &rp->turns;
}

void lz_replay_free(struct lz_replay *rp)
{
	lz_watchdog_stop(rp);
	lz_debug("replayed processes were resumed %lu times", (unsigned long)rp->run);
	lz_debug("%lu system calls were answered without a stop", (unsigned long)rp->answered);
	lz_stub_reap();
	lz_image_free(rp->image);
	lz_turns_free(&rp->turns);
	free(rp->divergence);
	free(rp->got);
	free(rp->want);
	*rp = (struct lz_replay){0};
}

static int space_of(struct lz_engine *e, const struct lz_checkpoint *ck)
{
	const struct lz_stub *stub = e->proc.stub;
	const struct lz_map_op own = {
	    .op = LZ_UNMAP, .addr = stub->start, .len = stub->end - stub->start};

	if (lz_space_copy(&e->space, ck->vmas, ck->n_vmas) < 0)
		return -1;
	while (e->space.n && e->space.vmas[e->space.n - 1].start >> 47)
		e->space.n--;
	return lz_space_apply(&e->space, &own);
}

static int build(struct lz_engine *e, uint32_t index)
{
	struct lz_reader *r = e->rp->reader;
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, index);

	if (!ck || lz_contexts_load(&e->threads, ck) < 0 ||
	    lz_image_seek(e->rp->image, index) < 0 ||
	    lz_stub_start(&e->proc, lz_reader_meta(r)) < 0)
		return -1;
	if (lz_restore(&e->proc, r, e->rp->image, ck) < 0 || space_of(e, ck) < 0)
		return -1;
	const struct lz_thread_state *t = &ck->threads[0];
	e->event = ck->pos.event;
	e->time_ns = ck->time_ns;
	e->marker = t->marker;
	e->buffer.base = t->buffer;
	e->buffer.start = t->buffer ? t->buffer_start : t->marker;
	e->buffer.hello = e->buffer.base != 0;
	e->buffer.pos_offset = ck->pos_offset;
	e->gone = false;
	return lz_proc_regs(&e->proc, &e->regs);
}

static struct lz_engine *engine_alloc(struct lz_replay *rp)
{
	struct lz_engine *e = aligned_alloc(_Alignof(struct lz_engine), sizeof(*e));

	if (!e) {
		lz_fail("out of memory");
		return NULL;
	}
	memset(e, 0, sizeof(*e));
	e->rp = rp;
	e->proc = LZ_NO_PROC;
	e->want.marker = e->goal.end = UINT64_MAX;
	return e;
}

struct lz_engine *lz_engine_new(struct lz_replay *rp, uint32_t index)
{
	struct lz_engine *e = engine_alloc(rp);

	if (!e)
		return NULL;
	if (build(e, index) < 0) {
		lz_engine_free(e);
		return NULL;
	}
	return e;
}

struct lz_engine *lz_engine_fork(struct lz_engine *e)
{
	lz_engine_unbreak(e);
	if (lz_engine_leave_call(e) < 0 || lz_engine_unguard(e) < 0 || lz_engine_calls_off(e) < 0)
		return NULL;
	struct lz_engine *copy = engine_alloc(e->rp);
	if (!copy)
		return NULL;
	copy->event = e->event;
	copy->time_ns = e->time_ns;
	copy->marker = e->marker;
	copy->buffer = e->buffer;
	copy->gone = e->gone;
	copy->regs = e->regs;
	copy->trapped = e->trapped;
	copy->flow = e->flow;
	if (lz_engine_flush(e) < 0 || lz_contexts_copy(&copy->threads, &e->threads) < 0 ||
	    lz_space_copy(&copy->space, e->space.vmas, e->space.n) < 0 ||
	    lz_stub_fork(&e->proc, &copy->proc) < 0) {
		lz_engine_free(copy);
		return NULL;
	}
	return copy;
}

void lz_engine_free(struct lz_engine *e)
{
	if (!e)
		return;
	lz_engine_calls_drop(e);
	lz_ring_drop(e);
	lz_stub_drop(&e->proc);
	lz_space_free(&e->space);
	lz_contexts_free(&e->threads);
	free(e->breaks.v);
	free(e->guarded.v);
	free(e);
}

static void drop_process(struct lz_engine *e)
{
	lz_engine_calls_drop(e);
	lz_ring_drop(e);
	lz_stub_drop(&e->proc);
	lz_space_free(&e->space);
	memset(e->debug.set, 0, sizeof e->debug.set);
	e->slice = (struct lz_engine_slice){0};
	e->in_call = e->regs_dirty = e->trapped = e->calls.barred = false;
	for (size_t k = 0; k < e->guarded.n; k++)
		e->guarded.v[k].in = false;
}

/* An execve: the rest goes on in a new process built from the checkpoint behind the event. */
int lz_engine_rebase(struct lz_engine *e)
{
	struct lz_reader *r = e->rp->reader;
	uint32_t n = lz_reader_n_checkpoints(r);
	uint32_t i = lz_reader_checkpoint_before(r, e->event + 1, UINT64_MAX);

	/* the first one with that many events, the others of the same gap come later */
	while (i > 0 && i < n && lz_reader_checkpoint(r, i - 1) &&
	       lz_reader_checkpoint(r, i - 1)->pos.event == e->event + 1)
		i--;
	const struct lz_checkpoint *ck = i < n ? lz_reader_checkpoint(r, i) : NULL;
	if (!ck || ck->pos.event != e->event + 1)
		return lz_fail("no checkpoint follows the execve of event %lu",
		               (unsigned long)e->event);
	drop_process(e);
	e->goal.end = UINT64_MAX;
	for (size_t k = 0; k < e->breaks.n; k++)
		e->breaks.v[k].in = false;
	e->breaks.in = false;
	return build(e, i);
}

/* A spin too long to be re-run: as a rebase, but to the checkpoint at the instant itself. */
int lz_engine_jump_spin(struct lz_engine *e, uint32_t index)
{
	lz_engine_unbreak(e);
	drop_process(e);
	e->rp->spins_jumped++;
	return build(e, index);
}
