/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/tree_around.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

enum { ENOUGH = -2, FIRST_PIECE = 1 << 20 };

/* Lines before the instant: the last ones of them. */
struct last_ones {
	struct lz_tree_line *v; /* [most], a ring */
	uint64_t n;             /* that there were */
	uint64_t most;
};

struct search {
	struct lz_asked *a;
	const struct lz_tree_around_options *o;
	struct lz_tree_around *t;
	struct lz_tree_line running;
	uint32_t top;    /* level of the caller: a line on it, or above, ends the search */
	uint32_t lowest; /* level of the lowest lines */
	uint64_t told;   /* what began before has been told */
	struct last_ones before;
	uint64_t behind; /* so many lines behind the instant */
};

static int add(struct lz_tree_around *t, const struct lz_tree_line *line)
{
	if (lz_reserve(t->v, t->room, t->n + 1) < 0)
		return -1;
	t->v[t->n++] = *line;
	return 0;
}

/* ---- who called it ---- */

/* Its number. A tid may be used again: the last thread that had it. */
static int choose_thread(const struct lz_asked *a, uint64_t offset, uint32_t *thread)
{
	const struct lz_stream_threads *t = &a->threads;
	uint32_t turn = lz_turn_before(t, offset);

	while (a->tid && turn && t->turns->v[turn].tid != a->tid)
		turn--;
	if (a->tid && t->turns->v[turn].tid != a->tid)
		return lz_fail("thread %u has not begun there", a->tid);
	*thread = t->number[turn];
	return 0;
}

static struct lz_tree_line line_of(const struct lz_act *act, uint32_t level, uint32_t thread)
{
	return (struct lz_tree_line){
	    .thread = thread, .fn = act->fn, .level = level, .from = lz_act_begin(act)};
}

/* The stack at the instant. */
static int add_callers(struct search *s)
{
	uint32_t thread = 0;

	if (choose_thread(s->a, s->o->offset, &thread) < 0)
		return -1;
	const struct lz_decoder *d = lz_stream_stack(s->a->stream, s->o->offset, thread);
	if (!d)
		return -1;
	if (!d->n)
		return lz_fail("thread %u runs nothing there that has markers",
		               lz_asked_tid(s->a, thread));
	const size_t n = d->n - 1, first = n > s->o->most ? n - (size_t)s->o->most : 0;
	for (size_t i = first; i < n; i++) {
		const struct lz_tree_line line = line_of(&d->acts[i], (uint32_t)i, thread);
		if (add(s->t, &line) < 0)
			return -1;
	}
	s->running = line_of(&d->acts[n], (uint32_t)n, thread);
	s->top = n ? (uint32_t)n - 1 : 0;
	s->lowest = s->o->depth < UINT32_MAX - n ? (uint32_t)(n + s->o->depth) : UINT32_MAX;
	s->t->n_callers = s->t->n;
	s->t->no_outermost = first > 0;
	/* what may differ from thread to thread is asked of this one only */
	s->a->tid = lz_asked_tid(s->a, thread);
	return 0;
}

/* ---- what is called ---- */

static int keep_before(struct search *s, const struct lz_tree_line *line)
{
	if (s->before.most)
		s->before.v[s->before.n % s->before.most] = *line;
	s->before.n++;
	return 0;
}

static int keep_behind(struct search *s, const struct lz_tree_line *line)
{
	if (s->behind++ < s->o->most)
		return add(s->t, line);
	s->t->no_last = true;
	return ENOUGH;
}

static int on_line(void *arg, const struct lz_tree_line *line)
{
	struct search *s = arg;

	if (line->from < s->told || line->from == s->running.from)
		return 0;
	s->told = line->from;
	if (line->level <= s->top)
		return line->from > s->running.from ? ENOUGH : 0;
	if (line->level > s->lowest)
		return 0;
	return line->from <= s->o->offset ? keep_before(s, line) : keep_behind(s, line);
}

/* What began before it within its caller, itself, and what it had called until then. */
static int add_before(struct search *s)
{
	const struct last_ones *b = &s->before;
	const uint64_t first = b->n > b->most ? b->n - b->most : 0;
	bool added = false;
	int rc = 0;

	s->t->no_first = first > 0;
	for (uint64_t i = first; rc == 0 && i <= b->n; i++) {
		const struct lz_tree_line *line = i < b->n ? &b->v[i % b->most] : NULL;
		if (!added && (!line || line->from > s->running.from)) {
			s->t->running = s->t->n;
			added = true;
			rc = add(s->t, &s->running);
		}
		if (rc == 0 && line)
			rc = add(s->t, line);
	}
	return rc;
}

static int walk(struct search *s, uint64_t from, uint64_t to)
{
	const struct lz_tree_options all = {.depth = UINT64_MAX};

	s->a->from = from;
	s->a->to = to;
	return lz_tree_walk(s->a, &all, on_line, s);
}

/* Piece by piece, since much may have to be computed of a recording with checksums. */
static int search_behind(struct search *s)
{
	const uint64_t end = lz_stream_len(s->a->stream);
	uint64_t piece = FIRST_PIECE;
	int rc = 0;

	for (uint64_t at = s->o->offset; rc == 0 && at < end && !s->a->partial; at = s->a->to) {
		rc = walk(s, at, end - at > piece ? at + piece : end);
		piece *= 4;
	}
	return rc;
}

static int search(struct search *s)
{
	if (add_callers(s) < 0)
		return -1;
	const uint64_t from = s->t->n_callers ? s->t->v[s->t->n_callers - 1].from : s->running.from;
	s->told = from + 1;
	int rc = walk(s, from, s->o->offset);
	if (rc == 0 || rc == ENOUGH)
		rc = add_before(s);
	if (rc == 0 && !s->a->partial)
		rc = search_behind(s);
	return rc == ENOUGH ? 0 : rc;
}

int lz_tree_around(struct lz_asked *a, const struct lz_tree_around_options *o,
                   struct lz_tree_around *t)
{
	struct lz_tree_around_options mine = *o;
	struct search s = {.a = a, .o = &mine, .t = t, .before.most = o->most};

	*t = (struct lz_tree_around){0};
	if (mine.offset > lz_stream_len(a->stream))
		mine.offset = lz_stream_len(a->stream);
	if (!a->threads.n)
		return lz_fail("the recording has no threads");
	s.before.v = calloc(o->most + 1, sizeof(*s.before.v));
	int rc = s.before.v ? search(&s)
	                    : lz_fail("out of memory for %lu lines", (unsigned long)o->most);
	free(s.before.v);
	return rc;
}

void lz_tree_around_free(struct lz_tree_around *t)
{
	free(t->v);
	*t = (struct lz_tree_around){0};
}
