/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events with the program's memory as it was right before each of them: one run, which leaps over what
 * nobody wants to see where a checkpoint makes that possible. */
#include "replayer/session/session.h"
#include <lizard/error.h>

struct visiting {
	struct lz_session *s;
	const struct lz_visit *of;
	struct lz_engine *e;
	bool stands; /* at an event that is still to be applied */
};

static void tick(void *arg)
{
	struct visiting *v = arg;

	if (v->of->look(v->of->arg) < 0)
		lz_session_interrupt(v->s);
}

/* A call that is answered without a stop has to have one if it is to be seen. */
static bool looks(void *arg, const struct lz_event *ev)
{
	const struct visiting *v = arg;

	return v->of->wants(v->of->arg, ev);
}

/* The next event from I on that is wanted; TO: none. */
static int64_t find(struct visiting *v, uint64_t i)
{
	for (; i < v->of->to; i++) {
		const struct lz_event *ev = lz_reader_event(v->s->rp.reader, i);
		if (!ev)
			return -1;
		if (v->of->wants(v->of->arg, ev))
			break;
	}
	return (int64_t)i;
}

/* The engine stands somewhere before event I. Is a checkpoint nearer to it? */
static bool leaps(struct visiting *v, uint64_t i)
{
	const struct lz_event *before = i ? lz_reader_event(v->s->rp.reader, i - 1) : NULL;

	if (!v->e)
		return true;
	if (!before)
		return false;
	const uint32_t ck = lz_reader_checkpoint_before(v->s->rp.reader, i, before->marker);
	const struct lz_checkpoint *c = lz_reader_checkpoint(v->s->rp.reader, ck);

	return c && c->pos.event > v->e->event + 1;
}

static int begin_near(struct visiting *v, uint64_t i)
{
	struct lz_reader *r = v->s->rp.reader;
	const struct lz_event *before =
	    i > lz_reader_first_event(r) ? lz_reader_event(r, i - 1) : NULL;
	int ret = 0;

	lz_engine_free(v->e);
	v->stands = false;
	v->e = before ? lz_session_engine_at(v->s, i, before->marker, &ret)
	              : lz_engine_new(&v->s->rp, 0);
	if (!v->e)
		return ret == 2   ? 2
		       : ret == 1 ? lz_fail("event %lu is not reached", (unsigned long)i)
		                  : -1;
	v->e->calls.until = UINT64_MAX;
	v->e->calls.looks = looks;
	v->e->calls.arg = v;
	v->e->want.marker = UINT64_MAX;
	return 0;
}

/* Up to event I, not applied. 1: the recording ends before. */
static int run_to(struct visiting *v, uint64_t i)
{
	struct lz_halt h;

	if (v->stands && lz_engine_apply(v->e, NULL) < 0)
		return -1;
	v->stands = false;
	for (;;) {
		if (lz_engine_resume(v->e, false, &h) < 0)
			return -1;
		if (h.flags & LZ_HALT_INTERRUPT)
			return 2;
		if (h.flags & LZ_HALT_DIVERGED)
			return lz_fail("replay diverged: %s", v->s->rp.divergence);
		if (h.flags & LZ_HALT_EVENT && v->e->event == i) {
			v->stands = true;
			return 0;
		}
		if (h.flags & LZ_HALT_END || (h.flags & LZ_HALT_EVENT && v->e->event > i))
			return 1;
		if (h.flags & LZ_HALT_EVENT && lz_engine_apply(v->e, NULL) < 0)
			return -1;
	}
}

/* A run in which nothing could be seen by the program has the last word. */
static int go_to(struct visiting *v, uint64_t i)
{
	const bool stops = v->s->rp.stop_at_calls;
	int ret = leaps(v, i) ? begin_near(v, i) : 0;

	/* that has tried again by itself */
	if (ret)
		return ret;
	ret = run_to(v, i);
	if (ret >= 0 || stops || !v->s->rp.stop_at_calls)
		return ret;
	ret = begin_near(v, i);
	return ret ? ret : run_to(v, i);
}

static int visit(struct visiting *v)
{
	int64_t i = (int64_t)v->of->from;
	int ret = 0;

	while (!ret && (i = find(v, (uint64_t)i)) >= 0 && (uint64_t)i < v->of->to) {
		ret = go_to(v, (uint64_t)i);
		const struct lz_event *ev = lz_reader_event(v->s->rp.reader, (uint64_t)i);
		if (!ret)
			ret = ev ? v->of->fn(v->of->arg, ev, (struct lz_arrival *)v->e) : -1;
		i++;
	}
	return i < 0 ? -1 : ret;
}

int lz_session_visit(struct lz_session *s, const struct lz_visit *of)
{
	struct visiting v = {.s = s, .of = of};

	lz_session_begin(s);
	s->rp.tick_arg = &v;
	s->rp.tick = of->look ? tick : NULL;
	int ret = visit(&v);
	s->rp.tick = NULL;
	lz_engine_free(v.e);
	if (ret == 2)
		s->rp.interrupted = false;
	return ret == 1 ? 0 : ret == 2 ? LZ_VISIT_INTERRUPTED : ret;
}
