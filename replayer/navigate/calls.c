/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ran, from the markers: one activation's code after another, without re-executing. */
#include <stdlib.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include "replayer/navigate/nav.h"
#include "replayer/session/session.h"

/* Stretches found so far; in a search backwards those of later blocks come last. */
struct list {
	struct lz_history_call *v;
	size_t n, cap;
};

struct walk {
	uint32_t thread;
	struct list list;
	bool changed; /* the marker before was a call or return: a stretch begins behind it */
	bool by_tail; /* ... it was a tail call, which does not come back to the caller's code */
	uint64_t at;  /* ... there */
};

static int push(struct list *l, const struct lz_history_call *c)
{
	if (lz_reserve(l->v, l->cap, l->n + 1) < 0)
		return lz_fail("out of memory for the history of calls");
	l->v[l->n++] = *c;
	return 0;
}

/* The stretch that begins at w->at: what is on top of the stack now runs in it. */
static int begin(struct walk *w, struct lz_stream *s, struct lz_decoder *d)
{
	struct lz_act *top = lz_decoder_top(d);
	struct lz_history_call c = {.begin = w->at, .depth = d->n ? (uint32_t)d->n - 1 : 0};
	const struct lz_fn *fn = top && top->fn != LZ_FN_NONE ? lz_stream_fn(s, top->fn) : NULL;

	if (fn)
		c.entry = fn->f->entry + fn->mod->bias;
	w->changed = false;
	return push(&w->list, &c);
}

struct block_walk {
	struct walk *w;
	struct lz_stream *s;
	uint32_t thread;
};

static int mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct block_walk *b = arg;

	if (d->thread != b->thread)
		return 0;
	if (b->w->changed && !(b->w->by_tail && m->code == LZ_ENTER) && begin(b->w, b->s, d))
		return -1;
	if (m->id)
		return 0;
	b->w->changed = true;
	b->w->by_tail = m->code == LZ_TAIL;
	b->w->at = m->offset + lz_marker_size(m->code);
	return 0;
}

/* Where the thread began, if that is in the block: its first stretch is what it ran before any
 * marker. */
static bool begins_in(struct lz_nav *nav, uint32_t block, uint32_t thread, uint64_t *at)
{
	*at = nav->threads.turns->v[nav->threads.first[thread]].marker;
	return lz_stream_block_of(nav->stream, *at) == block;
}

/* The stretches of a thread that begin in a block, added to W's. */
static int read_block(struct lz_nav *nav, uint32_t block, struct walk *w)
{
	struct block_walk b = {w, nav->stream, w->thread};
	struct lz_decoder *d = lz_stream_decoder(nav->stream);

	w->changed = begins_in(nav, block, w->thread, &w->at);
	if (lz_stream_decode(nav->stream, block, UINT64_MAX, NULL, mark, &b) ||
	    lz_decoder_switch(d, w->thread))
		return -1;
	return w->changed ? begin(w, nav->stream, d) : 0;
}

/* Puts what E holds in front of what L holds. */
static int prepend(struct list *l, struct list *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (push(e, &l->v[i]))
			return -1;
	free(l->v);
	*l = *e;
	*e = (struct list){0};
	return 0;
}

static int was_interrupted(struct lz_nav *nav)
{
	if (!nav->s->rp.interrupted)
		return 0;
	nav->s->rp.interrupted = false;
	return lz_fail("interrupted");
}

static size_t begun_before(const struct list *l, uint64_t time)
{
	return lz_lower_bound(i, l->n, l->v[i].begin < time);
}

/* The stretches around TIME: the last WANTED that begin before it (if there are so many), and
 * later ones. */
static int read_before(struct lz_nav *nav, uint32_t block, uint64_t time, size_t wanted,
                       struct walk *w)
{
	int rc = read_block(nav, block, w);

	while (!rc && block > 0 && begun_before(&w->list, time) < wanted) {
		struct walk earlier = {.thread = w->thread};

		rc = was_interrupted(nav);
		if (!rc)
			rc = read_block(nav, --block, &earlier);
		if (!rc)
			rc = prepend(&w->list, &earlier.list);
		free(earlier.list.v);
	}
	return rc;
}

static int read_after(struct lz_nav *nav, uint32_t block, size_t first, size_t wanted,
                      struct walk *w)
{
	uint32_t n = lz_stream_n_blocks(nav->stream);
	int rc = 0;

	/* one more: it says where the last one ends */
	while (!rc && ++block < n && w->list.n - first <= wanted) {
		rc = was_interrupted(nav);
		if (!rc)
			rc = read_block(nav, block, w);
	}
	return rc;
}

static void cut(struct list *l, size_t first, size_t n, uint64_t end)
{
	for (size_t i = 0; i < l->n; i++)
		l->v[i].end = i + 1 < l->n ? l->v[i + 1].begin : end;
	if (first > l->n)
		first = l->n;
	if (n > l->n - first)
		n = l->n - first;
	for (size_t i = 0; i < n; i++)
		l->v[i] = l->v[first + i];
	l->n = n;
}

int lz_session_calls(struct lz_session *s, uint32_t tid, uint64_t time, size_t before, size_t after,
                     struct lz_history_call **calls, size_t *n)
{
	struct lz_nav *nav = lz_nav_of(s);
	struct walk w = {0};
	struct lz_pos now;
	uint32_t block;
	size_t first;
	int rc;

	*calls = NULL;
	*n = 0;
	if (!nav)
		return -1;
	if (!lz_stream_n_blocks(nav->stream))
		return lz_fail("the recorded program is not instrumented: which functions ran is "
		               "not known without running it");
	lz_session_present(s, &now);
	w.thread = lz_stream_thread_find(&nav->threads, tid ? tid : now.tid, now.event);
	if (w.thread == LZ_NO_THREAD ||
	    nav->threads.turns->v[nav->threads.first[w.thread]].event > now.event)
		return lz_fail("thread %u has not run before", tid);
	lz_session_begin(s);
	block = lz_stream_block_of(nav->stream, time);
	rc = read_before(nav, block, time + 1, before + 1, &w);
	first = begun_before(&w.list, time + 1);
	first = first > before + 1 ? first - before - 1 : 0;
	if (!rc)
		rc = read_after(nav, block, first, before + after, &w);
	if (rc) {
		free(w.list.v);
		return -1;
	}
	/* TIME's own stretch is the first of those after */
	size_t own = begun_before(&w.list, time + 1);
	size_t earlier = own ? own - 1 - first : 0;

	cut(&w.list, first, earlier + after, lz_stream_len(nav->stream));
	*calls = w.list.v;
	*n = w.list.n;
	return 0;
}
