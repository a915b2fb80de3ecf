/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/call_tree.h"

#include "replayer/answers/crew.h"
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

/* Of one thread that reads: what it has found in a block, until it is that block's turn. */
struct walking {
	struct lz_asked *a;
	const struct lz_tree_options *o;
	lz_tree_fn *fn;
	void *arg;
	const struct lz_crew *crew;
	uint64_t begun;      /* where the block begins */
	struct chain *chain; /* [n_threads] */
	uint32_t n_threads;
	struct lz_tree_line *line;
	size_t n_lines, lines_room;
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
	if (lz_reserve(w->line, w->lines_room, w->n_lines + 1) < 0)
		return -1;
	w->line[w->n_lines++] = line;
	return 0;
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

static bool is_asked(const struct walking *w, const struct lz_decoder *d)
{
	return d->thread < w->n_threads && lz_asked_thread(w->a, d->thread);
}

static int on_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct walking *w = arg;

	if (!is_asked(w, d))
		return 0;
	return m->code == LZ_ENTER ? begin(w, d, m) : follow(w, d, d->n, m->offset);
}

/* ---- on several CPUs ---- */

static int on_begin(void *arg, struct lz_decoder *d, uint64_t offset)
{
	struct walking *w = arg;

	(void)d;
	if (!w->chain && !(w->chain = calloc(w->n_threads + 1u, sizeof(*w->chain))))
		return lz_fail("out of memory for %u threads", w->n_threads);
	w->begun = offset;
	for (uint32_t i = 0; i < w->n_threads; i++) {
		w->chain[i].n = 0;
		w->chain[i].at = lz_crew_has_run(w->crew, i, offset) ? offset : 0;
	}
	return 0;
}

static int on_end(void *arg, struct lz_decoder *d, uint64_t offset)
{
	struct walking *w = arg;

	return is_asked(w, d) && offset > w->begun ? follow(w, d, d->n, offset) : 0;
}

static int tell(void *arg)
{
	struct walking *w = arg;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->n_lines; i++)
		rc = w->fn(w->arg, &w->line[i]);
	w->n_lines = 0;
	return rc;
}

static void end_walking(struct walking *w)
{
	for (uint32_t i = 0; w->chain && i < w->n_threads; i++)
		free(w->chain[i].v);
	free(w->chain);
	free(w->line);
}

int lz_tree_walk(struct lz_asked *a, const struct lz_tree_options *o, lz_tree_fn *fn, void *arg)
{
	struct lz_crew crew;
	const struct walking as = {
	    .a = a, .o = o, .fn = fn, .arg = arg, .crew = &crew, .n_threads = a->threads.n};
	struct lz_spread s = {
	    .calls_only = true, .fn = on_mark, .begin = on_begin, .end = on_end, .in_order = tell};
	int rc = lz_crew_make(&crew, a, sizeof(struct walking), &s);

	for (unsigned i = 0; rc == 0 && i < s.n; i++)
		*(struct walking *)s.arg[i] = as;
	if (rc == 0)
		rc = lz_asked_spread(a, "reading the control flow", &s);
	for (unsigned i = 0; i < s.n; i++)
		end_walking(s.arg[i]);
	lz_crew_free(&crew);
	return rc;
}
