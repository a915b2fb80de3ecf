/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of turns. */
#include "replayer/stream/turns.h"
#include <common/base/array.h>
#include <common/base/work.h>
#include <lizard/error.h>
#include <search.h>
#include <stdlib.h>

/* While the events are read: each live thread's last turn, in a tree by tid. */
struct latest {
	uint32_t tid, turn;
};

struct reading {
	struct lz_turns *t;
	struct lz_reader *r;
	void *tree;
};

static int by_tid(const void *a, const void *b)
{
	const struct latest *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static uint32_t last_of(const struct reading *g, uint32_t tid)
{
	struct latest key = {tid, 0}, *const *found = tfind(&key, &g->tree, by_tid);

	return found ? (*found)->turn : LZ_NO_TURN;
}

static int set_last(struct reading *g, uint32_t tid, uint32_t turn)
{
	struct latest *l = malloc(sizeof *l), **found;

	if (!l)
		return lz_fail("out of memory for the list of threads");
	*l = (struct latest){tid, turn};
	found = tsearch(l, &g->tree, by_tid);
	if (!found || *found != l) {
		free(l);
		if (!found)
			return lz_fail("out of memory for the list of threads");
		(*found)->turn = turn;
	}
	return 0;
}

static void forget(struct reading *g, uint32_t tid)
{
	struct latest key = {tid, 0}, **found = tfind(&key, &g->tree, by_tid), *l;

	if (!found)
		return;
	l = *found;
	tdelete(&key, &g->tree, by_tid);
	free(l);
}

static int add(struct reading *g, struct lz_turn turn)
{
	struct lz_turns *t = g->t;

	if (lz_reserve(t->v, t->room, (size_t)t->n + 1) < 0)
		return lz_fail("out of memory for %u thread switches", t->n);
	turn.before = last_of(g, turn.tid);
	turn.after = LZ_NO_TURN;
	if (turn.before != LZ_NO_TURN) {
		t->v[turn.before].after = t->n;
		turn.returns = t->v[turn.before].calls;
	}
	t->v[t->n] = turn;
	return set_last(g, turn.tid, t->n++);
}

static int add_switch(struct reading *g, const struct lz_event *ev)
{
	g->t->v[g->t->n - 1].calls = ev->flags & LZ_EVF_IN_CALL;
	return add(g, (struct lz_turn){.event = ev->index + 1,
	                               .marker = ev->marker,
	                               .ip = ev->regs.rip,
	                               .tid = ev->next,
	                               .switched = true});
}

static void mark_end(const void *node, VISIT which, void *arg)
{
	const struct latest *const *l = node;
	struct reading *g = arg;

	if (which == preorder || which == leaf)
		g->t->v[(*l)->turn].ends = true;
}

/* The thread that made the execve is alone now, under the first one's number. To the marker stream
 * it is a new one: it has none of the calls of the program before. */
static int add_rebase(struct reading *g, const struct lz_event *ev)
{
	uint64_t event = ev->index + 1, marker = ev->marker;
	uint32_t tid = ev->tid;

	if (event < lz_reader_n_events(g->r)) {
		const struct lz_event *first = lz_reader_event(g->r, event);
		if (!first)
			return -1;
		tid = first->tid;
	}
	struct lz_turn *now = &g->t->v[g->t->n - 1];
	bool same = now->tid == tid;
	twalk_r(g->tree, mark_end, g);
	tdestroy(g->tree, free);
	g->tree = NULL;
	now->ends = !same;
	return add(g, (struct lz_turn){.event = event, .marker = marker, .tid = tid});
}

static int read_event(struct reading *g, uint64_t i)
{
	const struct lz_event *ev = lz_reader_event(g->r, i);

	if (!ev)
		return -1;
	if (ev->kind == LZ_EV_SWITCH)
		return add_switch(g, ev);
	if (ev->flags & LZ_EVF_REBASE)
		return add_rebase(g, ev);
	if (ev->flags & LZ_EVF_THREAD_END) {
		g->t->v[g->t->n - 1].ends = true;
		forget(g, ev->tid);
	}
	return 0;
}

/* Threads that are inside a call at the first checkpoint. */
static void mark_calls(struct lz_turns *t, const struct lz_checkpoint *ck)
{
	for (uint32_t i = 0; i < ck->n_threads; i++) {
		if (!(ck->threads[i].flags & LZ_THREAD_IN_CALL))
			continue;
		uint32_t k = 0;
		while (k < t->n && t->v[k].tid != ck->threads[i].tid)
			k++;
		if (k < t->n)
			t->v[k].returns = true;
	}
}

static int read_events(struct reading *g, uint64_t from, uint64_t to)
{
	struct lz_work work;
	int rc = 0;

	lz_work_begin(&work, "reading the events", to > from ? to - from : 0);
	for (uint64_t i = from, next; rc == 0 && i < to; i = next) {
		next = lz_reader_event_telling(g->r, i);
		if (next == i) {
			rc = read_event(g, i);
			next++;
		}
		rc = rc < 0 ? -1 : lz_work_done(&work, next - i);
	}
	lz_work_end(&work);
	return rc;
}

static int read_all(struct reading *g)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(g->r, 0);
	uint64_t n = lz_reader_n_events(g->r);

	if (!ck ||
	    add(g, (struct lz_turn){
	               .event = ck->pos.event, .marker = ck->pos.marker, .tid = ck->pos.tid}) < 0)
		return -1;
	if (read_events(g, ck->pos.event, n) < 0)
		return -1;
	mark_calls(g->t, ck);
	return 0;
}

int lz_turns_read(struct lz_turns *t, struct lz_reader *r)
{
	struct reading g = {.t = t, .r = r};

	*t = (struct lz_turns){0};
	int ret = read_all(&g);
	tdestroy(g.tree, free);
	if (ret < 0)
		lz_turns_free(t);
	return ret;
}

void lz_turns_free(struct lz_turns *t)
{
	free(t->v);
	*t = (struct lz_turns){0};
}

uint32_t lz_turns_at(const struct lz_turns *t, uint64_t event)
{
	uint32_t n = lz_lower_bound(i, t->n, t->v[i].event <= event);

	return n ? n - 1 : 0;
}
