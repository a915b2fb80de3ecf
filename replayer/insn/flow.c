/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include "replayer/insn/flow.h"
#include "replayer/session/session.h"

enum {
	EFFORT = 64, /* instructions followed for each that is wanted, */
	EFFORT_MIN = 1 << 16,
	EFFORT_MAX = 1 << 26,
	GAP_MAX = 1 << 14 /* and on one path without a marker */
};

#define NO_HOLE SIZE_MAX

/* Has the function in hand written its TAIL, so that its next indirect jump leaves it? */
enum tail { NO_TAIL, TAIL, MAYBE_TAIL };

/* Where a path stands. */
struct head {
	enum tail tail;
	uint64_t pc;
	size_t len;                   /* instructions so far */
	size_t mark;                  /* the next */
	uint32_t frame;               /* index of the innermost call that was followed, 0: none */
	uint32_t arrivals;            /* at the goal */
	uint32_t gap;                 /* instructions since the marker before */
	size_t first_hole, last_hole; /* in front of which instruction code without markers ran */
};

/* A call that was followed. Paths share what they have in common. */
struct frame {
	uint64_t ret;
	uint32_t up;
};

struct flow {
	struct lz_insn_code *code;
	const struct lz_flow_query *q;
	uint64_t *path; /* of the head in hand */
	size_t path_room;
	struct head *fork; /* heads still to be followed; their instructions are the path's first */
	size_t n_forks, forks_room;
	struct frame *frame;
	size_t n_frames, frames_room;
	uint64_t effort;
	bool found;
};

static int no_memory(void)
{
	return lz_fail("out of memory for the history of instructions");
}

static int fork_at(struct flow *w, const struct head *h, uint64_t pc)
{
	if (lz_reserve(w->fork, w->forks_room, w->n_forks + 1) < 0)
		return no_memory();
	w->fork[w->n_forks] = *h;
	w->fork[w->n_forks++].pc = pc;
	return 0;
}

/* ---- steps; 0: go on; DEAD: this is not the path; LZ_FLOW_UNTOLD ---- */

enum { DEAD = 10, ENDS };

/* Code without markers runs and comes back. If it may have called code that has some, nobody can
 * tell. */
static int pass_hole(struct flow *w, struct head *h)
{
	const struct lz_flow_query *q = w->q;

	if (h->mark < q->n
	        ? q->mark[h->mark].code == LZ_ENTER || q->mark[h->mark].code == LZ_LANDING
	        : q->before_enter)
		return LZ_FLOW_UNTOLD;
	if (h->first_hole == NO_HOLE)
		h->first_hole = h->len;
	h->last_hole = h->len;
	return 0;
}

struct return_walk {
	struct flow *w;
	struct head *h;
	struct head *fork; /* within the caller */
	size_t n, room;
};

static int fork_in_caller(struct return_walk *r, uint64_t pc, uint32_t gap)
{
	if (lz_reserve(r->fork, r->room, r->n + 1) < 0)
		return no_memory();
	r->fork[r->n++] = (struct head){.pc = pc, .gap = gap};
	return 0;
}

static int begin_behind(void *arg, const struct lz_code_insn *in)
{
	return fork_in_caller(arg, in->next, 0);
}

/* Control comes back behind the call IN. */
static int return_behind(struct return_walk *r, const struct lz_code_insn *in)
{
	struct head h = *r->h;

	if (!in->target || in->to != LZ_PLACE_ENTRY) {
		int rc = pass_hole(r->w, &h);

		if (rc)
			return rc;
	}
	return fork_at(r->w, &h, in->next);
}

/* Past the caller's instruction at H. */
static int step_in_caller(struct return_walk *r, struct head *h)
{
	const struct lz_code_insn *in = lz_insn_at(r->w->code, h->pc);
	int rc = 0;

	if (h->gap++ > GAP_MAX || !r->w->effort--)
		return LZ_FLOW_UNTOLD;
	if (in->kind == LZ_CODE_NONE || in->kind == LZ_CODE_RETURN || in->f)
		return DEAD;
	h->pc = in->next;
	if (in->kind == LZ_CODE_NEXT)
		return 0;
	if (in->kind == LZ_CODE_CALL)
		return return_behind(r, in);
	if (in->n_targets) {
		for (size_t i = 0; !rc && i < in->n_targets; i++)
			rc = fork_in_caller(r, in->targets[i], h->gap);
		return rc ? rc : DEAD;
	}
	if (!in->target || in->to != LZ_PLACE_INSIDE)
		return LZ_FLOW_UNTOLD;
	if (in->kind == LZ_CODE_BRANCH)
		rc = fork_in_caller(r, in->next, h->gap);
	h->pc = in->target;
	return rc;
}

/* Follows the caller's code from its last marker on, without calls, to all that it can have made
 * before the next one. */
static int find_calls(struct return_walk *r)
{
	while (r->n) {
		struct head h = r->fork[--r->n];
		int rc = 0;

		while (!rc)
			rc = step_in_caller(r, &h);
		if (rc != DEAD)
			return rc;
	}
	return DEAD; /* the forks of the flow go on */
}

/* Back into a function whose call was not followed. */
static int return_unfollowed(struct flow *w, struct head *h)
{
	const struct lz_flow_mark *m = h->mark ? &w->q->mark[h->mark - 1] : NULL;
	struct return_walk r = {.w = w, .h = h};
	int rc;

	if (!m || !m->caller)
		return LZ_FLOW_UNTOLD;
	if (m->caller_last == LZ_LAST_LANDING)
		rc = lz_insn_sites(w->code, m->caller, LZ_LANDING, 0, begin_behind, &r);
	else if (m->caller_last == LZ_SET_ENTER)
		rc = lz_insn_sites(w->code, m->caller, LZ_ENTER, 0, begin_behind, &r);
	else
		rc = lz_insn_sites(w->code, m->caller, 0, m->caller_last, begin_behind, &r);
	if (!rc)
		rc = r.n ? find_calls(&r) : LZ_FLOW_UNTOLD;
	free(r.fork);
	return rc;
}

static int step_return(struct flow *w, struct head *h)
{
	if (!h->frame)
		return return_unfollowed(w, h);
	h->pc = w->frame[h->frame].ret;
	h->frame = w->frame[h->frame].up;
	return 0;
}

static int step_call(struct flow *w, struct head *h, const struct lz_code_insn *in)
{
	int rc;

	if (!in->target || in->to == LZ_PLACE_FOREIGN) {
		rc = pass_hole(w, h);
		h->pc = in->next;
		return rc;
	}
	if (in->to != LZ_PLACE_ENTRY)
		return LZ_FLOW_UNTOLD;
	if (lz_reserve(w->frame, w->frames_room, w->n_frames + 1) < 0)
		return no_memory();
	w->frame[w->n_frames] = (struct frame){in->next, h->frame};
	h->frame = (uint32_t)w->n_frames++;
	h->pc = in->target;
	return 0;
}

static int fork_to_all(struct flow *w, const struct head *h, const struct lz_code_insn *in)
{
	for (size_t i = 0; i < in->n_targets; i++)
		if (fork_at(w, h, in->targets[i]))
			return -1;
	return DEAD; /* the forks go on */
}

static int step_jump(struct flow *w, struct head *h, const struct lz_code_insn *in)
{
	if (in->target && in->to != LZ_PLACE_FOREIGN) {
		h->pc = in->target;
		return 0;
	}
	if (h->tail == NO_TAIL && in->n_targets)
		return fork_to_all(w, h, in);
	if (h->tail != TAIL)
		return LZ_FLOW_UNTOLD;
	h->tail = NO_TAIL; /* behind the caller's call */
	int rc = pass_hole(w, h);

	return rc ? rc : step_return(w, h);
}

static int step_marker(struct flow *w, struct head *h, const struct lz_code_insn *in)
{
	const struct lz_flow_mark *m = &w->q->mark[h->mark];

	if (h->mark == w->q->n || m->fn->f != in->f || m->fn->mod->bias != in->mod->bias ||
	    m->id != in->id || (!m->id && m->code != in->code))
		return DEAD;
	h->mark++;
	h->gap = 0;
	h->tail = m->code == LZ_TAIL ? TAIL : NO_TAIL;
	return h->mark == w->q->n && !w->q->goal ? ENDS : 0;
}

/* Past the instruction at H. */
static int step(struct flow *w, struct head *h)
{
	const struct lz_code_insn *in = lz_insn_at(w->code, h->pc);
	int rc;

	if (!w->effort-- || h->gap++ > GAP_MAX || w->q->s->rp.interrupted)
		return LZ_FLOW_UNTOLD;
	if (lz_reserve(w->path, w->path_room, h->len + 1) < 0)
		return no_memory();
	w->path[h->len++] = h->pc;
	if (in->f && (rc = step_marker(w, h, in)))
		return rc;
	switch (in->kind) {
	case LZ_CODE_NEXT: h->pc = in->next; return 0;
	case LZ_CODE_BRANCH:
		if (in->to == LZ_PLACE_FOREIGN || fork_at(w, h, in->target))
			return in->to == LZ_PLACE_FOREIGN ? LZ_FLOW_UNTOLD : -1;
		h->pc = in->next;
		return 0;
	case LZ_CODE_JUMP: return step_jump(w, h, in);
	case LZ_CODE_CALL: return step_call(w, h, in);
	case LZ_CODE_RETURN: return step_return(w, h);
	default: return DEAD;
	}
}

/* ---- the answer ---- */

/* A path that fits; all that do must agree. */
static int take(struct flow *w, const struct head *h)
{
	const struct lz_flow_query *q = w->q;
	size_t first = q->last ? h->len - q->wanted : 0;

	if (h->len < q->wanted)
		return LZ_FLOW_SHORT;
	if (q->last ? h->last_hole != NO_HOLE && h->last_hole > first
	            : h->first_hole != NO_HOLE && h->first_hole < q->wanted)
		return LZ_FLOW_UNTOLD;
	if (w->found && memcmp(q->addrs, w->path + first, q->wanted * sizeof(*q->addrs)) != 0)
		return LZ_FLOW_UNTOLD;
	memcpy(q->addrs, w->path + first, q->wanted * sizeof(*q->addrs));
	w->found = true;
	return DEAD;
}

static bool arrives(const struct flow *w, struct head *h)
{
	const struct lz_flow_query *q = w->q;

	if (!q->goal || h->mark < q->n || h->pc != q->goal)
		return false;
	return ++h->arrivals == q->goal_n || !q->goal_n;
}

/* Follows a head to its end; what it passes by is left as forks. */
static int follow(struct flow *w, struct head h)
{
	int rc = 0;

	while (!rc) {
		if (arrives(w, &h)) {
			rc = take(w, &h);
			if (rc != DEAD || w->q->goal_n)
				break;
		}
		rc = step(w, &h);
	}
	if (rc == ENDS)
		rc = take(w, &h);
	return rc == DEAD ? 0 : rc;
}

/* An instant behind a TAIL may lie behind what was called then, too. */
static enum tail tail_at_begin(const struct lz_flow_query *q)
{
	if (q->from && q->mark[q->from - 1].code != LZ_TAIL)
		return NO_TAIL;
	return q->start ? MAYBE_TAIL : TAIL;
}

static int begin_at_site(void *arg, const struct lz_code_insn *in)
{
	struct flow *w = arg;
	struct head h = {.tail = tail_at_begin(w->q),
	                 .mark = w->q->from,
	                 .first_hole = NO_HOLE,
	                 .last_hole = NO_HOLE};

	return fork_at(w, &h, in->next);
}

static int begin(struct flow *w)
{
	const struct lz_flow_query *q = w->q;
	struct lz_code_insn at = {.next = q->start};
	const struct lz_flow_mark *m;

	if (lz_reserve(w->frame, w->frames_room, 1) < 0)
		return no_memory();
	w->n_frames = 1; /* 0 is none */
	if (q->start)
		return begin_at_site(w, &at);
	m = &q->mark[q->from - 1];
	return lz_insn_sites(w->code, m->fn, m->code, m->id, begin_at_site, w);
}

int lz_insn_flow(struct lz_insn_code *c, const struct lz_flow_query *q)
{
	struct flow w = {.code = c, .q = q, .effort = EFFORT_MIN + EFFORT * (uint64_t)q->wanted};

	if (w.effort > EFFORT_MAX)
		w.effort = EFFORT_MAX;

	int rc = begin(&w);

	while (!rc && w.n_forks)
		rc = follow(&w, w.fork[--w.n_forks]);
	if (!rc && !w.found)
		rc = LZ_FLOW_UNTOLD;
	free(w.path);
	free(w.fork);
	free(w.frame);
	return rc;
}
