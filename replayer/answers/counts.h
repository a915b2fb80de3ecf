/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often each basic block, edge and line of each function ran.
 *
 * Between two consecutive markers of an activation there is exactly one path through its graph
 * (Ball and Larus 1994, and lizard/graph.h). So the stream is read once and each pair of such
 * markers is counted; the paths are walked once for each pair that occurred. An activation that did
 * not come to its end, as main() in front of exit(), is counted up to where control was. */
#ifndef LIZARD_REPLAYER_COUNTS_H
#define LIZARD_REPLAYER_COUNTS_H

#include "replayer/answers/asked.h"

struct lz_fn_counts {
	uint64_t calls;   /* activations that began */
	uint64_t returns; /* and that came to the exit */
	uint64_t *node;   /* [graph.n_nodes] */
	uint64_t *edge;   /* [graph.n_edges] */
};

struct lz_counts {
	struct lz_fn_counts *fn; /* by the stream's number; node NULL: it never ran */
	size_t n;
};

int lz_counts_make(struct lz_asked *a, struct lz_counts *c);
void lz_counts_free(struct lz_counts *c);

/* ---- lines ---- */

struct lz_line_count {
	const char *file; /* the program's; valid as long as what was asked */
	uint32_t line;
	uint64_t n;
};

struct lz_line_counts {
	struct lz_line_count
	    *v; /* by file and line, each once; those with code that never ran, too */
	size_t n, room;
};

/* How often control came to each line. A loop on one line counts each round, as gcov does. */
int lz_counts_lines(const struct lz_asked *a, const struct lz_counts *c, struct lz_line_counts *l);
void lz_line_counts_free(struct lz_line_counts *l);

#endif
