/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of activations around an instant: who called what runs then, what that caller called
 * besides, and what it calls itself. */
#ifndef LIZARD_REPLAYER_TREE_AROUND_H
#define LIZARD_REPLAYER_TREE_AROUND_H

#include "replayer/answers/call_tree.h"

struct lz_tree_around_options {
	uint64_t offset; /* the instant, of the thread A->tid; 0: of the one that runs then */
	uint64_t depth;  /* levels below the activation that runs then */
	uint64_t most;   /* lines: callers, before the instant, and behind it */
};

/* Lines in the order in which they begin, outermost callers first. */
struct lz_tree_around {
	struct lz_tree_line *v;
	size_t n, room;
	size_t running;    /* which one runs at the instant */
	size_t n_callers;  /* the first ones: its callers */
	bool no_outermost; /* there are more callers outside of the first one */
	bool no_first;     /* there are more lines behind the callers */
	bool no_last;      /* there are more at the end */
};

/* 0, or -1: lz_error(). A piece of the stream that A asks about is not heeded. */
int lz_tree_around(struct lz_asked *a, const struct lz_tree_around_options *o,
                   struct lz_tree_around *t);
void lz_tree_around_free(struct lz_tree_around *t);

#endif
