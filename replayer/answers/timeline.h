/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run in intervals between checkpoints, and what happened in each. */
#ifndef LIZARD_REPLAYER_TIMELINE_H
#define LIZARD_REPLAYER_TIMELINE_H

#include "replayer/answers/event_piece.h"
#include "replayer/answers/tally.h"

struct lz_interval {
	uint32_t number;     /* of the checkpoint that it begins with */
	struct lz_pos begin; /* its instant */
	uint64_t time_ns;    /* of it, since the recording began */
	uint64_t markers, events;
	uint64_t n_calls, signals, turns, mappings;
	uint64_t threads, processes, programs; /* that were begun */
	uint64_t marks;
	struct lz_tally calls; /* by number, the most frequent first */
};
/* The name of the call in row I of V->calls. */
const char *lz_interval_call(const struct lz_interval *v, size_t i);

/* Calls FN for each interval that has something of the events P. Non-zero ends it, and is returned. */
typedef int lz_timeline_fn(void *arg, const struct lz_interval *v);
int lz_timeline(struct lz_asked *a, const struct lz_event_piece *p, lz_timeline_fn *fn, void *arg);

#endif
