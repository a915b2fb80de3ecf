/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/code_ways.h"

#include "replayer/answers/passes.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include <string.h>

int lz_code_ways_init(struct lz_code_ways *w, const struct lz_fn_code *code)
{
	const size_t n = (size_t)code->n * LZ_CODE_WAY_STATES + 1;

	*w = (struct lz_code_ways){.code = code,
	                           .seen = calloc(n, sizeof(*w->seen)),
	                           .leads = calloc(n, 1),
	                           .goal = LZ_NO_INSN};
	if (w->seen && w->leads)
		return 0;
	lz_code_ways_free(w);
	return -1;
}

void lz_code_ways_free(struct lz_code_ways *w)
{
	free(w->seen);
	free(w->stack);
	free(w->edge);
	free(w->end);
	free(w->start);
	free(w->leads);
	free(w->route);
	*w = (struct lz_code_ways){0};
}

static uint32_t place(uint32_t number, enum lz_code_way_state state)
{
	return number * LZ_CODE_WAY_STATES + state;
}

static void begin(struct lz_code_ways *w)
{
	w->round++;
	w->n_stack = w->n_edges = w->n_ends = 0;
	w->met = w->met_inside = w->met_behind = w->lost = false;
}

static int add_end(struct lz_code_ways *w, uint32_t marker, uint32_t at)
{
	if (lz_reserve(w->end, w->ends_room, w->n_ends + 1) < 0)
		return -1;
	w->end[w->n_ends++] = (struct lz_code_way_end){marker, at};
	return 0;
}

static int go_to(struct lz_code_ways *w, uint32_t from, uint32_t to)
{
	if (lz_reserve(w->edge, w->edges_room, w->n_edges + 1) < 0 ||
	    lz_reserve(w->stack, w->stack_room, w->n_stack + 1) < 0)
		return -1;
	w->edge[w->n_edges++] = (struct lz_code_way_edge){from, to};
	if (w->seen[to] == w->round)
		return 0;
	w->seen[to] = w->round;
	w->stack[w->n_stack++] = to;
	return 0;
}

static uint32_t marker_of(const struct lz_cfg_site *s)
{
	return s->id ? s->id : s->code == LZ_LANDING ? LZ_LAST_LANDING : LZ_SET_ENTER;
}

static int leave(struct lz_code_ways *w, enum lz_code_way_state state, uint32_t at)
{
	if (state == LZ_CODE_WAY_INSIDE)
		return 0;
	return add_end(w, state == LZ_CODE_WAY_EXIT ? LZ_SET_EXIT : LZ_NEXT_TAIL, at);
}

/* Past the instruction at place AT. */
static int pass(struct lz_code_ways *w, uint32_t at)
{
	const struct lz_fn_insn *in = &w->code->v[at / LZ_CODE_WAY_STATES];
	enum lz_code_way_state state = at % LZ_CODE_WAY_STATES;
	int rc = 0;

	if (in->site && in->site->code != LZ_EXIT && in->site->code != LZ_TAIL)
		return state == LZ_CODE_WAY_INSIDE ? add_end(w, marker_of(in->site), at) : 0;
	if (in->site)
		state = in->site->code == LZ_EXIT ? LZ_CODE_WAY_EXIT : LZ_CODE_WAY_TAIL;
	if (in->leaves)
		rc = leave(w, state, at);
	if (in->lost) {
		w->lost |= state == LZ_CODE_WAY_INSIDE;
		return leave(w, state, at);
	}
	if (rc == 0 && in->next != LZ_NO_INSN)
		rc = go_to(w, at, place(in->next, state));
	if (rc == 0 && in->target != LZ_NO_INSN)
		rc = go_to(w, at, place(in->target, state));
	for (uint32_t i = 0; rc == 0 && i < in->n_targets; i++)
		rc = go_to(w, at, place(w->code->targets[in->targets + i], state));
	/* through a register, behind TAIL: a call, though targets are known */
	if (rc == 0 && in->n_targets && state == LZ_CODE_WAY_TAIL)
		rc = leave(w, state, at);
	return rc;
}

static int search(struct lz_code_ways *w)
{
	while (w->n_stack) {
		const uint32_t at = w->stack[--w->n_stack];

		if (at / LZ_CODE_WAY_STATES == w->goal) {
			w->met = true;
			w->met_inside |= at % LZ_CODE_WAY_STATES == LZ_CODE_WAY_INSIDE;
			w->met_behind |= at % LZ_CODE_WAY_STATES != LZ_CODE_WAY_INSIDE;
		} else if (pass(w, at) < 0) {
			return lz_fail("out of memory for the ways through %s", w->code->f->name);
		}
	}
	return 0;
}

static int start_at(struct lz_code_ways *w, uint32_t at)
{
	if (lz_reserve(w->start, w->starts_room, w->n_starts + 1) < 0 ||
	    lz_reserve(w->stack, w->stack_room, w->n_stack + 1) < 0)
		return lz_fail("out of memory for the ways through %s", w->code->f->name);
	w->start[w->n_starts++] = at;
	if (w->seen[at] != w->round)
		w->stack[w->n_stack++] = at;
	w->seen[at] = w->round;
	return 0;
}

/* ANY: it is not known which marker was the last. */
static int start_behind(struct lz_code_ways *w, uint32_t from, bool any)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < w->code->n; i++) {
		const struct lz_fn_insn *in = &w->code->v[i];
		const bool own = in->site && in->site->code != LZ_EXIT && in->site->code != LZ_TAIL;

		if (own && (any || marker_of(in->site) == from) && in->next != LZ_NO_INSN)
			rc = start_at(w, place(in->next, LZ_CODE_WAY_INSIDE));
	}
	return rc;
}

int lz_code_ways_from(struct lz_code_ways *w, uint32_t from, uint32_t goal)
{
	begin(w);
	w->goal = goal;
	w->n_starts = 0;
	if (start_behind(w, from, false) < 0)
		return -1;
	if (!w->n_starts && start_behind(w, from, true) < 0)
		return -1;
	return search(w);
}

int lz_code_ways_first(struct lz_code_ways *w, uint32_t goal)
{
	const uint32_t entry = lz_fn_code_at(w->code, w->code->f->entry);

	begin(w);
	w->goal = goal;
	w->n_starts = 0;
	if (entry == LZ_NO_INSN)
		return lz_fail("%s has no code at its entry", w->code->f->name);
	return start_at(w, place(entry, LZ_CODE_WAY_INSIDE)) < 0 ? -1 : search(w);
}

int lz_code_ways_on(struct lz_code_ways *w)
{
	const bool met[LZ_CODE_WAY_STATES] = {
	    w->met_inside, w->seen[place(w->goal, LZ_CODE_WAY_EXIT)] == w->round,
	    w->seen[place(w->goal, LZ_CODE_WAY_TAIL)] == w->round};

	begin(w);
	w->n_starts = 0;
	for (uint32_t s = 0; s < LZ_CODE_WAY_STATES; s++) {
		if (!met[s])
			continue;
		/* it may be come to again, so it is not marked as seen */
		if (lz_reserve(w->start, w->starts_room, w->n_starts + 1) < 0 ||
		    pass(w, place(w->goal, s)) < 0)
			return lz_fail("out of memory for the ways through %s", w->code->f->name);
		w->start[w->n_starts++] = place(w->goal, s);
	}
	return search(w);
}

bool lz_code_ways_seen(const struct lz_code_ways *w, uint32_t number)
{
	for (uint32_t s = 0; s < LZ_CODE_WAY_STATES; s++)
		if (w->seen[place(number, s)] == w->round)
			return true;
	return false;
}

/* ---- a route ---- */

/* Edges looked at for the routes through one function: a second. */
#define WORK_MAX (1ULL << 29)

static int look_at_edges(struct lz_code_ways *w)
{
	w->work += w->n_edges;
	if (w->work <= WORK_MAX)
		return 0;
	return lz_fail("the ways through %s are too much work", w->code->f->name);
}

/* Which places lead there. Edges come in the order of the search: few rounds do. */
static int find_leading(struct lz_code_ways *w, uint32_t to)
{
	bool more = true;

	memset(w->leads, 0, (size_t)w->code->n * LZ_CODE_WAY_STATES + 1);
	if (to == LZ_NO_MARKER)
		memset(w->leads + place(w->goal, 0), 1, LZ_CODE_WAY_STATES);
	for (size_t i = 0; to != LZ_NO_MARKER && i < w->n_ends; i++)
		if (w->end[i].marker == to)
			w->leads[w->end[i].place] = 1;
	while (more) {
		more = false;
		if (look_at_edges(w) < 0)
			return -1;
		for (size_t i = w->n_edges; i-- > 0;) {
			const struct lz_code_way_edge *e = &w->edge[i];
			if (!w->leads[e->to] || w->leads[e->from])
				continue;
			w->leads[e->from] = 1;
			more = true;
		}
	}
	return 0;
}

/* Behind AT; LZ_NO_INSN: it is the end, or (*ONE) there are several. */
static uint32_t next_place(const struct lz_code_ways *w, uint32_t at, bool *one)
{
	uint32_t next = LZ_NO_INSN;

	for (size_t i = 0; i < w->n_edges; i++) {
		const struct lz_code_way_edge *e = &w->edge[i];

		if (e->from != at || !w->leads[e->to] || e->to == next)
			continue;
		if (next != LZ_NO_INSN)
			*one = false;
		next = e->to;
	}
	return next;
}

static int follow(struct lz_code_ways *w, uint32_t at, bool to_goal, bool *one)
{
	while (*one && at != LZ_NO_INSN && w->n_route <= w->n_edges) {
		const uint32_t number = at / LZ_CODE_WAY_STATES;

		if (to_goal && number == w->goal)
			return 0;
		if (lz_reserve(w->route, w->route_room, w->n_route + 1) < 0)
			return lz_fail("out of memory for a way through a function");
		w->route[w->n_route++] = number;
		if (look_at_edges(w) < 0)
			return -1;
		at = next_place(w, at, one);
	}
	*one &= at == LZ_NO_INSN;
	return 0;
}

int lz_code_ways_route(struct lz_code_ways *w, uint32_t to, bool *calls, bool *one)
{
	uint32_t first = LZ_NO_INSN;

	*calls = false;
	*one = true;
	w->n_route = 0;
	if (find_leading(w, to) < 0)
		return -1;
	for (size_t i = 0; i < w->n_starts; i++) {
		if (!w->leads[w->start[i]])
			continue;
		*one &= first == LZ_NO_INSN;
		first = w->start[i];
		/* the goal's own call comes behind it */
		*calls |= w->code->v[first / LZ_CODE_WAY_STATES].call &&
		          (to != LZ_NO_MARKER || first / LZ_CODE_WAY_STATES != w->goal);
	}
	for (size_t i = 0; i < w->n_edges; i++)
		if (w->leads[w->edge[i].from] && w->leads[w->edge[i].to])
			*calls |= w->code->v[w->edge[i].from / LZ_CODE_WAY_STATES].call;
	return follow(w, first, to == LZ_NO_MARKER, one);
}
