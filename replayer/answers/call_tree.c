/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/call_tree.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

/* An activation that is printed, and whether it is one at all. */
struct level {
	uint64_t id;
	uint32_t level; /* NO_LEVEL: above all roots, or too deep */
};

enum { NO_LEVEL = UINT32_MAX };

struct chain {
	struct level *v;
	size_t n, room;
	uint64_t at; /* the last marker that was looked at: what began before it has been told */
};

struct walking {
	struct lz_asked *a;
	const struct lz_tree_options *o;
	lz_tree_fn *fn;
	void *arg;
	struct chain *chain; /* [n_threads] */
	uint32_t n_threads;
};

static uint32_t level_of(const struct walking *w, const struct chain *c, uint32_t fn)
{
	const uint32_t above = c->n ? c->v[c->n - 1].level : NO_LEVEL;

	if (above != NO_LEVEL)
		return above + 1;
	return !w->o->roots || (fn != LZ_FN_NONE && w->o->roots[fn]) ? 0 : NO_LEVEL;
}

static int add(struct walking *w, struct chain *c, const struct lz_act *act, uint32_t thread)
{
	struct lz_tree_line line = {.thread = thread, .fn = act->fn, .from = lz_act_begin(act)};

	if (lz_reserve(c->v, c->room, c->n + 1) < 0)
		return -1;
	line.level = level_of(w, c, act->fn);
	c->v[c->n++] = (struct level){lz_act_id(act), line.level};
	if (line.level == NO_LEVEL || line.level >= w->o->depth || act->enter < c->at)
		return 0;
	return w->fn(w->arg, &line);
}

/* Of the first N on the stack those that are new are told. */
static int follow(struct walking *w, const struct lz_decoder *d, size_t n, uint64_t at)
{
	struct chain *c = &w->chain[d->thread];
	int rc = 0;

	while (c->n && (c->n > n || c->v[c->n - 1].id != lz_act_id(&d->acts[c->n - 1])))
		c->n--;
	while (!rc && c->n < n)
		rc = add(w, c, &d->acts[c->n], d->thread);
	c->at = at;
	return rc;
}

/* Told at once: what other threads call next is later. */
static int begin(struct walking *w, struct lz_decoder *d, const struct lz_mark *m)
{
	const struct lz_act act = {.enter = m->offset, .fn = lz_decoder_fn(d, m->entry, m->offset)};
	const int rc = follow(w, d, lz_decoder_below(d), m->offset);

	return rc ? rc : add(w, &w->chain[d->thread], &act, d->thread);
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct walking *w = arg;

	if (d->thread >= w->n_threads || !lz_asked_thread(w->a, d->thread))
		return 0;
	return m->code == LZ_ENTER ? begin(w, d, m) : follow(w, d, d->n, m->offset);
}

int lz_tree_walk(struct lz_asked *a, const struct lz_tree_options *o, lz_tree_fn *fn, void *arg)
{
	struct walking w = {.a = a, .o = o, .fn = fn, .arg = arg, .n_threads = a->threads.n};
	struct lz_walk walk = {.calls_only = true, .fn = on_mark, .arg = &w};
	int rc = -1;

	w.chain = calloc(w.n_threads + 1u, sizeof(*w.chain));
	if (w.chain)
		rc = lz_asked_walk(a, "reading the control flow", &walk);
	else
		lz_fail("out of memory for %u threads", w.n_threads);
	if (rc == 0 && !a->partial)
		rc = on_mark(&w, lz_stream_decoder(a->stream), &(struct lz_mark){.offset = a->to});
	for (uint32_t i = 0; w.chain && i < w.n_threads; i++)
		free(w.chain[i].v);
	free(w.chain);
	return rc;
}
