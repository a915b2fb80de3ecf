/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each activation of some functions: where it begins and ends, who called it, how it ended. */
#ifndef LIZARD_REPLAYER_ACTIVATIONS_H
#define LIZARD_REPLAYER_ACTIVATIONS_H

#include "replayer/answers/asked.h"

enum lz_ended {
	LZ_ENDED_RETURN,
	LZ_ENDED_TAIL_CALL,
	LZ_ENDED_UNWOUND, /* longjmp, an exception, or another coroutine: control landed below it */
	LZ_ENDED_CUT      /* it was still there at the end of what was asked about */
};

struct lz_activation {
	uint64_t number;   /* from 1, in the order in which they began */
	uint64_t from, to; /* stream offsets: it runs behind its ENTER, up to behind its EXIT */
	uint32_t thread;
	uint32_t fn, caller; /* LZ_FN_NONE: nothing is known of it */
	uint32_t depth;      /* how many instrumented functions are active, itself included */
	enum lz_ended ended;
};

const char *lz_ended_name(enum lz_ended ended);

/* Of the functions FN with WANTED[FN], those that begin in the piece that A asks about. FN is called
 * for each: for inner ones before outer ones, when they end. Non-zero ends the search, and is
 * returned. */
typedef int lz_activation_fn(void *arg, const struct lz_activation *one);
int lz_activations_ended(struct lz_asked *a, const uint8_t *wanted, lz_activation_fn *fn,
                         void *arg);
/* The same when they begin, without their ends: as fast as the stream is read. */
int lz_activations_begun(struct lz_asked *a, const uint8_t *wanted, lz_activation_fn *fn,
                         void *arg);
/* Their number, on all CPUs. */
int lz_activations_count(struct lz_asked *a, const uint8_t *wanted, uint64_t *n);

#endif
