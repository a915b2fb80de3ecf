/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of threads. */
#include "replayer/engine/contexts.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include <string.h>

void lz_contexts_free(struct lz_contexts *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		free(c->v[i].xstate);
	free(c->v);
	*c = (struct lz_contexts){0};
}

int lz_context_keep_xstate(struct lz_context *t, const uint8_t *xstate, uint32_t len)
{
	uint8_t *copy = NULL;

	if (len && !(copy = malloc(len)))
		return lz_fail("out of memory for the registers of thread %u", t->tid);
	if (len)
		memcpy(copy, xstate, len);
	free(t->xstate);
	t->xstate = copy;
	t->xstate_len = len;
	return 0;
}

static struct lz_context *add(struct lz_contexts *c, uint32_t tid)
{
	if (!tid || lz_contexts_find(c, tid)) {
		lz_fail(tid ? "the recording has thread %u twice" : "the recording has a thread %u",
		        tid);
		return NULL;
	}
	if (c->n == LZ_MAX_THREADS) {
		lz_fail("the recording has more than %d threads at once", LZ_MAX_THREADS);
		return NULL;
	}
	if (lz_reserve(c->v, c->room, c->n + 1) < 0) {
		lz_fail("out of memory for %u threads", c->n + 1);
		return NULL;
	}
	c->v[c->n] = (struct lz_context){.tid = tid, .call = LZ_NO_CALL};
	return &c->v[c->n++];
}

/* All threads write into one stream; the buffer holds what was written last. */
static bool fits_stream(const struct lz_thread_state *t, const struct lz_checkpoint *ck)
{
	const struct lz_thread_state *first = &ck->threads[0];

	return t->marker == ck->pos.marker && t->buffer == first->buffer &&
	       t->buffer_start == first->buffer_start &&
	       (!t->buffer ||
	        (t->buffer % LZ_BUFFER_SIZE == 0 && t->buffer < 1ULL << 47 &&
	         t->marker >= t->buffer_start && t->marker - t->buffer_start <= LZ_BUFFER_GUARD));
}

static int load(struct lz_contexts *c, const struct lz_checkpoint *ck)
{
	for (uint32_t i = 0; i < ck->n_threads; i++) {
		const struct lz_thread_state *s = &ck->threads[i];
		struct lz_context *t = add(c, s->tid);
		if (t && !fits_stream(s, ck))
			return lz_fail("checkpoint %u: thread %u's markers are not the program's",
			               ck->index, s->tid);
		if (!t || lz_context_keep_xstate(t, s->xstate, s->xstate_len) < 0)
			return lz_fail_in("checkpoint %u", ck->index);
		t->regs = s->regs;
		t->in_call = s->flags & LZ_THREAD_IN_CALL;
		t->fresh = s->flags & LZ_THREAD_FRESH;
	}
	return 0;
}

int lz_contexts_load(struct lz_contexts *c, const struct lz_checkpoint *ck)
{
	struct lz_contexts new = {0};

	if (!ck->n_threads || ck->threads[0].tid != ck->pos.tid)
		return lz_fail("the first thread of checkpoint %u is not the one that runs there",
		               ck->index);
	if (load(&new, ck) < 0) {
		lz_contexts_free(&new);
		return -1;
	}
	lz_contexts_free(c);
	*c = new;
	return 0;
}

int lz_contexts_copy(struct lz_contexts *to, const struct lz_contexts *from)
{
	*to = (struct lz_contexts){.v = calloc(from->n + 1u, sizeof *to->v),
	                           .room = from->n + 1u,
	                           .running = from->running};
	if (!to->v)
		return lz_fail("out of memory for %u threads", from->n);
	for (uint32_t i = 0; i < from->n; i++) {
		struct lz_context *t = &to->v[to->n++];
		*t = from->v[i];
		t->xstate = NULL;
		if (lz_context_keep_xstate(t, from->v[i].xstate, from->v[i].xstate_len) < 0)
			return -1;
	}
	return 0;
}

struct lz_context *lz_contexts_find(const struct lz_contexts *c, uint32_t tid)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].tid == tid)
			return &c->v[i];
	return NULL;
}

struct lz_context *lz_contexts_running(const struct lz_contexts *c)
{
	return &c->v[c->running];
}

int lz_contexts_add(struct lz_contexts *c, uint32_t tid, const struct user_regs_struct *regs,
                    const uint8_t *xstate, uint32_t xstate_len)
{
	struct lz_context *t = add(c, tid);

	if (!t || lz_context_keep_xstate(t, xstate, xstate_len) < 0)
		return -1;
	t->regs = *regs;
	t->fresh = true;
	return 0;
}

static void drop(struct lz_contexts *c, uint32_t i)
{
	free(c->v[i].xstate);
	memmove(&c->v[i], &c->v[i + 1], (c->n - i - 1) * sizeof *c->v);
	c->n--;
}

int lz_contexts_switch(struct lz_contexts *c, const struct user_regs_struct *regs,
                       const uint8_t *xstate, uint32_t xstate_len, bool gone, uint32_t next)
{
	struct lz_context *from = lz_contexts_running(c), *to = lz_contexts_find(c, next);

	if (!to || to == from)
		return lz_fail("the recording switches from thread %u to %s thread %u", from->tid,
		               to ? "the same" : "an unknown", next);
	if (!gone) {
		from->regs = *regs;
		if (lz_context_keep_xstate(from, xstate, xstate_len) < 0)
			return -1;
	}
	to->fresh = false;
	c->running = (uint32_t)(to - c->v);
	if (gone) {
		uint32_t i = (uint32_t)(from - c->v);
		drop(c, i);
		c->running -= i < c->running;
	}
	return 0;
}
