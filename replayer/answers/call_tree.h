/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of activations: time downwards, who is called to the right. Folded, subtrees that are
 * equal are kept once, and those that follow each other have a count. */
#ifndef LIZARD_REPLAYER_CALL_TREE_H
#define LIZARD_REPLAYER_CALL_TREE_H

#include "replayer/answers/asked.h"
#include "replayer/answers/tally.h"

struct lz_tree_options {
	const uint8_t *roots; /* only below functions FN with ROOTS[FN]; NULL: all */
	uint64_t depth;       /* levels from there on; UINT64_MAX: all */
};

/* An activation that begins. */
struct lz_tree_line {
	uint32_t thread, fn;
	uint32_t level; /* from 0, below the root */
	uint64_t from;  /* stream offset: it runs behind its ENTER */
};
/* Calls FN for each, in order. Non-zero ends it, and is returned. */
typedef int lz_tree_fn(void *arg, const struct lz_tree_line *line);
int lz_tree_walk(struct lz_asked *a, const struct lz_tree_options *o, lz_tree_fn *fn, void *arg);

/* ---- folded ---- */

/* So many equal subtrees, one behind the other. */
struct lz_tree_run {
	uint32_t node;
	uint64_t times;
};

struct lz_tree_node {
	uint32_t fn;
	uint32_t first, n; /* slice of lz_tree.run: what it calls */
};

struct lz_tree {
	struct lz_tree_node *node; /* callees before callers */
	size_t n_nodes, nodes_room;
	struct lz_tree_run *run;
	size_t n_runs, runs_room;
	struct lz_tally known; /* of a node's hash: its number */
	struct lz_tree_run *top;
	size_t n_top, top_room; /* the roots */
};

int lz_tree_fold(struct lz_asked *a, const struct lz_tree_options *o, struct lz_tree *t);
void lz_tree_free(struct lz_tree *t);

#endif
