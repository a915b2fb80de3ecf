/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the blocks of a function's source graph ran, and the arcs between them: in these lines
 * and branches are counted. Nodes and edges say the counts of most. The others follow, because as
 * much leaves a block as comes into it. A function that has no source graph is counted by its nodes
 * and edges alone. */
#ifndef LIZARD_REPLAYER_SOURCE_COUNTS_H
#define LIZARD_REPLAYER_SOURCE_COUNTS_H

#include "replayer/coverage/counts.h"
#include <lizard/cfg.h>

struct lz_counted_block {
	uint32_t first_line, n_lines; /* slice of lz_cfg_func.lines */
	uint64_t n;
	bool known;
	size_t first_out, n_out; /* slice of arcs */
	size_t first_in, n_in;   /* slice of into */
};

struct lz_counted_arc {
	uint32_t src, dst;
	uint32_t flags; /* enum lz_arc_flags */
	uint64_t n;
	bool known;
};

struct lz_source_counts {
	struct lz_counted_block *block;
	uint32_t n_blocks, first;   /* FIRST: where the function begins */
	struct lz_counted_arc *arc; /* by src and dst */
	size_t n_arcs;
	size_t *into; /* arcs by dst */
};

int lz_source_counts_make(const struct lz_cfg_func *f, const struct lz_fn_counts *c,
                          struct lz_source_counts *s);
void lz_source_counts_free(struct lz_source_counts *s);

/* A block has lines of one file in a row, then of another. *NEXT: the first one behind those that I
 * begins. Returns the largest of them: the block ends in it. As gcov has it, the function's last
 * block ends in no line: NO_END. */
uint32_t lz_source_end(const struct lz_cfg_func *f, const struct lz_source_counts *s,
                       uint32_t block, uint32_t i, uint32_t *next);
#define LZ_NO_END UINT32_MAX

struct lz_line_count {
	const char *file; /* the program's */
	uint32_t line;
	uint64_t n;
};

struct lz_line_counts {
	/* by file and line, each once; those that never ran, too */
	struct lz_line_count *v;
	size_t n, room;
};

/* How often control came to each line of the function. */
int lz_source_lines(const struct lz_cfg *cfg, const struct lz_cfg_func *f,
                    const struct lz_source_counts *s, struct lz_line_counts *out);
void lz_line_counts_free(struct lz_line_counts *l);

#endif
