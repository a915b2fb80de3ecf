/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verification: one run from start to end in which everything that can be compared is. */
#include "replayer/engine/prefetch.h"
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Shorter streams are not worth a thread. */
enum { PREFETCH_LEAST = 4 << 20 };

struct verify {
	struct lz_session *s;
	struct lz_engine *e;
	struct lz_verify_result *res;
	uint32_t next; /* checkpoint to be compared */
	uint32_t n_checkpoints;
	void (*progress)(void *arg, double fraction);
	void *arg;
	double shown;
};

static void show_progress(struct verify *v)
{
	const struct lz_replay *rp = &v->s->rp;
	uint64_t n_events = lz_reader_n_events(rp->reader);
	double part = rp->stream_len ? (double)v->e->marker / (double)rp->stream_len
	              : n_events     ? (double)v->e->event / (double)n_events
	                             : 0;

	if (!v->progress || part < v->shown + 0.01)
		return;
	v->shown = part;
	v->progress(v->arg, part);
}

/* The checkpoint whose gap has begun just now: on to its address and compare. 1: diverged. */
static int compare_here(struct verify *v, const struct lz_checkpoint *ck)
{
	struct lz_engine *e = v->e;
	char *what = NULL;
	int ret = 0;

	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	bool spin = ev && lz_event_async(ev) && ev->flags & LZ_EVF_SPIN &&
	            ev->marker == ck->pos.marker && ev->ip == ck->pos.ip;

	/* Equal registers do not name a spin's instant: a loop may keep all that changes in
	 * memory. */
	if (spin) {
		struct lz_halt h;
		if (lz_engine_resume(e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_DIVERGED)
			return 1;
		ret = h.flags & LZ_HALT_EVENT ? 0 : h.flags & LZ_HALT_INTERRUPT ? 2 : 1;
	} else if (ck->pos.ip != e->regs.rip || !lz_regs_equal(&ck->threads[0].regs, &e->regs)) {
		ret = lz_engine_to_arrival(e, ck->pos.ip, ck->pos.n ? ck->pos.n : 1,
		                           e->regs.rip == ck->pos.ip);
	}
	if (ret < 0 || ret == 2)
		return ret;
	if (ret)
		return lz_engine_diverge(e, "checkpoint %u at %#" PRIx64 " is not reached",
		                         ck->index, ck->pos.ip);
	ret = lz_engine_settle(e);
	if (!ret)
		ret = lz_engine_compare(e, v->next, ck->whole, &v->res->pages, &what);
	if (ret > 0)
		ret = lz_engine_diverge(e, "checkpoint %u: %s", ck->index, what ? what : "differs");
	free(what);
	v->res->checkpoints++;
	return ret;
}

/* 1: compared or passed; 0: not yet there. */
static int meet_checkpoints(struct verify *v, uint64_t *want)
{
	*want = v->e->calls.until = UINT64_MAX;
	while (v->next < v->n_checkpoints) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(v->s->rp.reader, v->next);
		if (!ck)
			return -1;
		v->e->calls.until = ck->pos.event;
		if (v->e->event < ck->pos.event)
			return 0;
		if (v->e->event == ck->pos.event && v->e->marker < ck->pos.marker) {
			*want = ck->pos.marker;
			return 0;
		}
		if (v->e->event > ck->pos.event || v->e->marker > ck->pos.marker)
			return lz_engine_diverge(v->e, "checkpoint %u was passed", ck->index);
		int ret = compare_here(v, ck);
		if (ret)
			return ret;
		v->next++;
		v->e->calls.until = UINT64_MAX;
	}
	return 0;
}

static int run_through(struct verify *v)
{
	for (;;) {
		struct lz_halt h;
		uint64_t want;
		int ret = meet_checkpoints(v, &want);
		if (ret)
			return ret;
		v->e->want.marker = want;
		if (lz_engine_resume(v->e, false, &h) < 0)
			return -1;
		show_progress(v);
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (h.flags & LZ_HALT_DIVERGED)
			return 1;
		if (h.flags & LZ_HALT_END)
			return 0;
		if (!(h.flags & LZ_HALT_EVENT))
			continue;
		if (v->e->event == v->s->rp.end.event) /* the signal that ends it */
			return 0;
		if ((ret = lz_engine_compare_taken(v->e)))
			return ret;
		if (lz_engine_apply(v->e, NULL) < 0)
			return -1;
	}
}

/* All that is recorded must have been met. */
static int check_end(struct verify *v)
{
	const struct lz_replay *rp = &v->s->rp;

	if (v->next < v->n_checkpoints)
		return lz_engine_diverge(v->e, "checkpoint %u lies behind the end", v->next);
	if (v->e->marker != rp->stream_len)
		return lz_engine_diverge(
		    v->e, "%" PRIu64 " bytes of markers were written, recorded are %" PRIu64,
		    v->e->marker, rp->stream_len);
	return 0;
}

static int verify(struct lz_session *s, struct lz_verify_result *res,
                  void (*progress)(void *arg, double fraction), void *arg)
{
	struct verify v = {.s = s, .res = res, .progress = progress, .arg = arg};

	*res = (struct lz_verify_result){0};
	lz_session_begin(s);
	s->rp.spins_jumped = 0;
	v.n_checkpoints = lz_reader_n_checkpoints(s->rp.reader);
	v.e = lz_engine_new(&s->rp, 0);
	if (!v.e)
		return -1;
	v.e->calls.compare_taken = true;
	if (s->rp.stream_len > PREFETCH_LEAST)
		s->rp.prefetch = lz_prefetch_new(s->rp.reader, s->rp.tid);
	int ret = run_through(&v);
	lz_prefetch_free(s->rp.prefetch);
	s->rp.prefetch = NULL;
	if (!ret)
		ret = check_end(&v);
	res->markers = v.e->marker - lz_reader_first_marker(s->rp.reader);
	res->events = v.e->event - lz_reader_first_event(s->rp.reader);
	res->hashed = lz_reader_markers_hashed(s->rp.reader, s->rp.tid);
	res->spins = s->rp.spins_jumped;
	res->taken = v.e->calls.taken;
	if (ret == 1)
		res->divergence = strdup(s->rp.divergence ? s->rp.divergence : lz_error());
	if (ret == 2)
		ret = lz_fail("interrupted");
	lz_engine_free(v.e);
	return ret < 0 ? -1 : 0;
}

int lz_session_verify(struct lz_session *s, struct lz_verify_result *res,
                      void (*progress)(void *arg, double fraction), void *arg)
{
	const bool stops = s->rp.stop_at_calls;
	int ret = verify(s, res, progress, arg);

	/* a run in which nothing could be seen by the program has the last word */
	if (ret || !res->divergence || stops || !s->rp.stop_at_calls)
		return ret;
	lz_debug("replay diverged with calls without a stop: %s", res->divergence);
	free(res->divergence);
	return verify(s, res, progress, arg);
}
