/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways through a function's machine code from one of its markers to the next ones. */
#ifndef LIZARD_REPLAYER_CODE_WAYS_H
#define LIZARD_REPLAYER_CODE_WAYS_H

#include "replayer/program/fn_code.h"

#define LZ_NO_MARKER 0u

/* Once EXIT or TAIL is written, what follows belongs to it. */
enum lz_code_way_state {
	LZ_CODE_WAY_INSIDE,
	LZ_CODE_WAY_EXIT,
	LZ_CODE_WAY_TAIL,
	LZ_CODE_WAY_STATES
};

struct lz_code_way_edge {
	uint32_t from, to; /* places: an instruction's number * LZ_CODE_WAY_STATES + the state */
};

struct lz_code_way_end {
	uint32_t marker; /* as lz_passes_between() takes it */
	uint32_t place;
};

struct lz_code_ways {
	const struct lz_fn_code *code;
	uint32_t *seen, round; /* by place: the round in which it was come to */
	uint32_t *stack;
	size_t n_stack, stack_room;
	struct lz_code_way_edge *edge;
	size_t n_edges, edges_room;
	struct lz_code_way_end *end; /* markers that can come next */
	size_t n_ends, ends_room;
	uint32_t *start;
	size_t n_starts, starts_room;
	uint32_t goal;               /* an instruction's number: ways end there */
	bool met_inside, met_behind; /* the goal was come to, in front of or behind EXIT or TAIL */
	bool met, lost;              /* ... a jump leads anywhere */
	uint8_t *leads;              /* by place, for lz_code_ways_route() */
	uint32_t *route;             /* the instructions of the only way */
	size_t n_route, route_room;
	uint64_t work; /* edges looked at for routes */
};

int lz_code_ways_init(struct lz_code_ways *w, const struct lz_fn_code *code);
void lz_code_ways_free(struct lz_code_ways *w);
/* All ways from behind marker FROM, from the function's beginning, or on from the goal of the last
 * search, to the next markers or to instruction GOAL. */
int lz_code_ways_from(struct lz_code_ways *w, uint32_t from, uint32_t goal);
int lz_code_ways_first(struct lz_code_ways *w, uint32_t goal);
int lz_code_ways_on(struct lz_code_ways *w);
/* Is instruction NUMBER on one of them? */
bool lz_code_ways_seen(const struct lz_code_ways *w, uint32_t number);
/* Those to marker TO, or (LZ_NO_MARKER) to the goal: is there a call on any of them (*CALLS), and is
 * there only one (*ONE), which is then in ROUTE, the goal not included? */
int lz_code_ways_route(struct lz_code_ways *w, uint32_t to, bool *calls, bool *one);

#endif
