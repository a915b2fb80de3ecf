/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search for an arrival at one of some addresses: block by block of markers, or interval by
 * interval where running is cheaper than reading. */
#ifndef LIZARD_REPLAYER_JUMP_SEARCH_H
#define LIZARD_REPLAYER_JUMP_SEARCH_H

#include "replayer/navigate/interval.h"
#include "replayer/navigate/nav.h"
#include "replayer/navigate/target_code.h"
#include "replayer/session/session.h"
#include "replayer/stream/windows.h"

struct lz_jump {
	struct lz_session *s;
	struct lz_nav *nav;
	uint64_t *addrs;
	size_t n, n_marked;   /* those of which the markers tell come first */
	uint32_t tid, thread; /* whose arrivals count; 0, LZ_NO_THREAD: all threads' */
	struct lz_pos now;
	/* the instants that count: those of the present program, or all */
	uint64_t from_event, to_event, to_marker;
	uint64_t floor; /* no need to look for markers before it */
	bool from_gap;  /* backward from the start of now's gap, not from now */
	struct lz_target *targets;
	struct lz_target_code *code; /* of those */
	struct lz_windows windows;
	struct lz_engine *e; /* of the window before */
	uint64_t most;       /* hits of a window: with more it is not looked at on; 0: any number */
	struct lz_reading reading;
	/* up to there, and from there on, the markers are read, as they have to be */
	uint64_t read_to, read_from;
	/* to where the caller runs what is cheaper to run, as was found out; NULL: it is run here */
	struct lz_gap_start *gives_way;
	bool gave_way;
	bool first;     /* want the first hit of a window, else the last */
	uint64_t skip;  /* hits in the present gap that lie before now */
	bool by_copies; /* the last hit may be one whose arrivals nobody has counted */
	bool found;
	struct lz_pos hit;
	struct lz_last last;
	enum lz_stop_reason broken; /* why the search ended early, 0 */
};

/* The first arrival behind J->now, the last one before it: J->found and J->hit, unless J->broken
 * or J->gave_way. -1: failed. */
int lz_jump_forward(struct lz_jump *j);
int lz_jump_backward(struct lz_jump *j);

#endif
