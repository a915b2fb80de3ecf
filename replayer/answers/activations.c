/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/activations.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

const char *lz_ended_name(enum lz_ended ended)
{
	switch (ended) {
	case LZ_ENDED_RETURN: return "return";
	case LZ_ENDED_TAIL_CALL: return "tail call";
	case LZ_ENDED_UNWOUND: return "unwound";
	case LZ_ENDED_CUT: break;
	}
	return "cut off";
}

/* ---- their beginnings ---- */

struct begun {
	struct lz_asked *a;
	lz_activation_fn *fn;
	void *arg;
	uint64_t number;
};

static struct lz_activation entered(struct lz_decoder *d, const struct lz_mark *m)
{
	const size_t n = lz_decoder_below(d);

	return (struct lz_activation){.from = m->offset + lz_marker_size(m->code),
	                              .thread = d->thread,
	                              .fn = lz_decoder_fn(d, m->entry, m->offset),
	                              .caller = n ? d->acts[n - 1].fn : LZ_FN_NONE,
	                              .depth = (uint32_t)d->n + 1};
}

static int on_begin(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct begun *b = arg;

	if (m->code != LZ_ENTER || !lz_asked_thread(b->a, d->thread))
		return 0;
	struct lz_activation one = entered(d, m);
	one.number = ++b->number;
	return b->fn(b->arg, &one);
}

static uint8_t *beginnings_of(const struct lz_asked *a, const uint8_t *wanted)
{
	const size_t n = lz_stream_n_fns(a->stream);
	uint8_t *watch = calloc(n + 1, 1);

	for (size_t i = 0; watch && i < n; i++)
		watch[i] = wanted[i] ? LZ_WATCH_BEGIN : 0;
	if (!watch)
		lz_fail("out of memory for %zu functions", n);
	return watch;
}

int lz_activations_begun(struct lz_asked *a, const uint8_t *wanted, lz_activation_fn *fn, void *arg)
{
	uint8_t *watch = beginnings_of(a, wanted);
	struct begun b = {.a = a, .fn = fn, .arg = arg};
	struct lz_walk w = {.watch = watch, .fn = on_begin, .arg = &b};
	int rc = watch ? lz_asked_walk(a, "reading the control flow", &w) : -1;

	free(watch);
	return rc;
}

/* Of one thread that reads. */
struct number {
	const struct lz_asked *a;
	uint64_t n;
};

static int add_begun(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct number *k = arg;

	k->n += m->code == LZ_ENTER && lz_asked_thread(k->a, d->thread);
	return 0;
}

static int count_apart(struct lz_asked *a, const uint8_t *watch, unsigned cpus, uint64_t *n)
{
	struct number *k = calloc(cpus, sizeof(*k));
	void **arg = calloc(cpus, sizeof(*arg));
	struct lz_spread w = {.watch = watch,
	                      .begins_only = true,
	                      .fn = add_begun,
	                      .inner = true,
	                      .arg = arg,
	                      .n = cpus};
	int rc = -1;

	for (unsigned i = 0; k && arg && i < cpus; i++) {
		k[i].a = a;
		arg[i] = &k[i];
	}
	if (k && arg)
		rc = lz_asked_spread(a, "reading the control flow", &w);
	else
		lz_fail("out of memory for %u threads", cpus);
	for (unsigned i = 0; k && i < cpus; i++)
		*n += k[i].n;
	free(k);
	free(arg);
	return rc;
}

int lz_activations_count(struct lz_asked *a, const uint8_t *wanted, uint64_t *n)
{
	const unsigned cpus = lz_asked_cpus();
	uint8_t *watch = beginnings_of(a, wanted);
	struct number k = {.a = a};
	struct lz_walk w = {.watch = watch, .fn = add_begun, .arg = &k};
	int rc = watch ? 0 : -1;

	*n = 0;
	if (rc == 0)
		rc = cpus ? count_apart(a, watch, cpus, n)
		          : lz_asked_walk(a, "reading the control flow", &w);
	*n += k.n;
	free(watch);
	return rc;
}

/* ---- and their ends ---- */

/* Of the activations of interest those of a thread that have not ended, outermost first. */
struct open {
	struct lz_activation *v;
	size_t n, room;
};

struct search {
	struct lz_asked *a;
	const uint8_t *wanted;
	lz_activation_fn *fn;
	void *arg;
	uint64_t number;
	struct open *open; /* [n_threads] */
	uint32_t n_threads;
};

static int add(struct search *s, const struct lz_activation *one)
{
	struct open *o = &s->open[one->thread];

	if (lz_reserve(o->v, o->room, o->n + 1) < 0)
		return -1;
	o->v[o->n] = *one;
	o->v[o->n++].number = ++s->number;
	return 0;
}

static int end_innermost(struct search *s, uint32_t thread, uint64_t at, enum lz_ended how)
{
	struct open *o = &s->open[thread];
	struct lz_activation *one = &o->v[--o->n];

	one->to = at;
	one->ended = how;
	return s->fn(s->arg, one);
}

/* Those above the N outermost activations are gone. */
static int unwind(struct search *s, uint32_t thread, size_t n, uint64_t at, enum lz_ended how)
{
	const struct open *o = &s->open[thread];
	int rc = 0;

	while (!rc && o->n && o->v[o->n - 1].depth > n)
		rc = end_innermost(s, thread, at, how);
	return rc;
}

/* The running activation has written EXIT or TAIL. */
static int leave(struct search *s, struct lz_decoder *d, const struct lz_mark *m)
{
	const struct lz_act *top = lz_decoder_top(d);
	const bool stays =
	    m->code == LZ_TAIL && top && d->tail && d->tail(d->arg, top->fn) != LZ_TAIL_GONE;

	if (!top || stays)
		return 0;
	return unwind(s, d->thread, d->n - 1, m->offset + 1,
	              m->code == LZ_EXIT ? LZ_ENDED_RETURN : LZ_ENDED_TAIL_CALL);
}

static int enter(struct search *s, struct lz_decoder *d, const struct lz_mark *m)
{
	struct lz_activation one = entered(d, m);
	int rc = 0;

	/* what ended in a tail call has no EXIT of its own */
	if (d->n && d->acts[d->n - 1].tail > 1)
		rc = unwind(s, d->thread, d->n - 1, m->offset, LZ_ENDED_TAIL_CALL);
	if (rc || one.fn == LZ_FN_NONE || !s->wanted[one.fn])
		return rc;
	return add(s, &one);
}

static int land(struct search *s, struct lz_decoder *d, const struct lz_mark *m)
{
	size_t stay;

	lz_decoder_landed(d, m, &stay);
	return unwind(s, d->thread, stay, m->offset, LZ_ENDED_UNWOUND);
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct search *s = arg;

	if (d->thread >= s->n_threads || !lz_asked_thread(s->a, d->thread))
		return 0;
	switch (m->code) {
	case LZ_ENTER: return enter(s, d, m);
	case LZ_EXIT:
	case LZ_TAIL: return leave(s, d, m);
	case LZ_LANDING: return land(s, d, m);
	default: return 0;
	}
}

/* What is of interest, and whatever may unwind it. */
static uint8_t *watch_for(const struct lz_asked *a, const uint8_t *wanted)
{
	const size_t n = lz_stream_n_fns(a->stream);
	uint8_t *watch = calloc(n + 1, 1);

	for (size_t i = 0; watch && i < n; i++) {
		const bool lands = lz_stream_fn(a->stream, (uint32_t)i)->f->flags & LZ_FN_LANDING;
		watch[i] = wanted[i] ? LZ_WATCH_ALL : lands ? LZ_WATCH_BEGIN : 0;
	}
	return watch;
}

/* What had not ended when the walk did. */
static int cut_off(struct search *s)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < s->n_threads; i++)
		rc = unwind(s, i, 0, s->a->to, LZ_ENDED_CUT);
	return rc;
}

int lz_activations_ended(struct lz_asked *a, const uint8_t *wanted, lz_activation_fn *fn, void *arg)
{
	struct search s = {
	    .a = a, .wanted = wanted, .fn = fn, .arg = arg, .n_threads = a->threads.n};
	uint8_t *watch = watch_for(a, wanted);
	struct lz_walk w = {.watch = watch, .fn = on_mark, .arg = &s};
	int rc = -1;

	s.open = calloc(s.n_threads + 1u, sizeof(*s.open));
	if (watch && s.open)
		rc = lz_asked_walk(a, "reading the control flow", &w);
	else
		lz_fail("out of memory for %u threads", s.n_threads);
	if (rc == 0)
		rc = cut_off(&s);
	for (uint32_t i = 0; s.open && i < s.n_threads; i++)
		free(s.open[i].v);
	free(s.open);
	free(watch);
	return rc;
}
