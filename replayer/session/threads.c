/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads at the present position. */
#include "replayer/session/session.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int no_thread(uint32_t tid)
{
	return lz_fail("there is no thread %u now", tid);
}

static struct lz_engine *engine(struct lz_session *s)
{
	if (!s->e)
		lz_fail("there is no replay process: only seeking is possible");
	return s->e;
}

static int by_tid(const void *a, const void *b, void *arg)
{
	const struct lz_thread *x = a, *y = b;
	const uint32_t *first = arg;

	if (x->tid == y->tid || x->tid == *first || y->tid == *first)
		return x->tid == y->tid ? 0 : x->tid == *first ? -1 : 1;
	return x->tid < y->tid ? -1 : 1;
}

int lz_session_threads(struct lz_session *s, struct lz_thread **threads, uint32_t *n)
{
	struct lz_engine *e = engine(s);

	if (!e)
		return -1;
	const struct lz_contexts *c = &e->threads;
	struct lz_thread *v = calloc(c->n + 1u, sizeof *v);
	if (!v)
		return lz_fail("out of memory for %u threads", c->n);
	*n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct lz_context *t = &c->v[i];
		bool running = i == c->running;
		if (running && e->gone)
			continue;
		v[(*n)++] = (struct lz_thread){
		    .tid = t->tid,
		    .running = running,
		    .in_call = t->in_call,
		    .fresh = t->fresh,
		    .pos_addr = lz_engine_pos_addr(e, running ? &e->regs : &t->regs)};
	}
	qsort_r(v, *n, sizeof *v, by_tid, &s->rp.tid);
	*threads = v;
	return 0;
}

int lz_session_thread_regs(struct lz_session *s, uint32_t tid, struct user_regs_struct *r)
{
	struct lz_engine *e = engine(s);

	if (!e)
		return -1;
	const struct lz_context *t = lz_contexts_find(&e->threads, tid);
	if (!t)
		return no_thread(tid);
	*r = t == lz_contexts_running(&e->threads) ? *lz_engine_regs(e) : t->regs;
	r->eflags &= ~(uint64_t)LZ_FLAG_RF; /* recorded registers may have it */
	return 0;
}

int lz_session_thread_xstate(struct lz_session *s, uint32_t tid, uint8_t *buf, uint32_t *len)
{
	struct lz_engine *e = engine(s);

	if (!e)
		return -1;
	const struct lz_context *t = lz_contexts_find(&e->threads, tid);
	if (!t)
		return no_thread(tid);
	if (t == lz_contexts_running(&e->threads))
		return lz_proc_xstate(&e->proc, buf, len);
	if (t->xstate_len > *len)
		return lz_fail("the vector registers of thread %u take %u bytes", tid,
		               t->xstate_len);
	*len = t->xstate_len;
	if (*len)
		memcpy(buf, t->xstate, *len);
	return 0;
}

/* ---- turns ---- */

int lz_session_turn_before(struct lz_session *s, uint32_t tid, uint64_t event,
                           struct lz_turn_end *end)
{
	const struct lz_turns *t = lz_replay_turns(&s->rp);

	if (!t)
		return -1;
	uint32_t i = lz_turns_at(t, event);
	while (i > 0 && t->v[i - 1].tid != tid)
		i--;
	if (!i)
		return 1;
	const struct lz_turn *turn = &t->v[i - 1];
	/* the event that ends a turn is the one before the next begins */
	const struct lz_event *ev = lz_reader_event(s->rp.reader, t->v[i].event - 1);
	if (!ev)
		return -1;
	end->in_call = turn->calls;
	end->ended = turn->ends;
	return lz_session_before_event(s, ev, &end->pos) ? -1 : 0;
}

static int next_turn(struct lz_session *s, uint32_t tid, struct lz_pos *pos)
{
	const struct lz_turns *t = lz_replay_turns(&s->rp);

	if (!t)
		return -1;
	uint32_t i = lz_turns_at(t, s->pos.event) + 1;
	while (i < t->n && t->v[i].tid != tid)
		i++;
	if (i >= t->n)
		return 1;
	const struct lz_turn *turn = &t->v[i];
	if (!turn->switched)
		return 1;
	*pos = (struct lz_pos){tid, 1, turn->event, turn->marker, turn->ip};
	if (turn->returns && turn->event < lz_reader_n_events(s->rp.reader)) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, turn->event);
		if (!ev)
			return -1;
		if (ev->kind != LZ_EV_SYSCALL)
			return 0;
		pos->event++;
		pos->ip = ev->has_regs ? ev->regs.rip : ev->ip;
	}
	return 0;
}

int lz_session_turn(struct lz_session *s, uint32_t tid, enum lz_direction d, struct lz_pos *pos)
{
	struct lz_turn_end end;

	if (tid == s->pos.tid) {
		lz_session_where(s, pos);
		return 0;
	}
	if (d == LZ_FORWARD)
		return next_turn(s, tid, pos);
	int ret = lz_session_turn_before(s, tid, s->pos.event, &end);
	if (!ret)
		*pos = end.pos;
	return ret;
}
