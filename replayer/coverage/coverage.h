/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a program ran, and how often: lines, functions and branches of its source files. Several
 * recordings are added up. */
#ifndef LIZARD_REPLAYER_COVERAGE_H
#define LIZARD_REPLAYER_COVERAGE_H

#include "replayer/answers/asked.h"
#include "replayer/answers/numbers.h"
#include <stdio.h>

struct lz_covered_line {
	uint32_t file, line;
	uint64_t n;
};

struct lz_covered_fn {
	uint32_t file, line;
	char *name;
	uint64_t calls;
};

/* A line of a file, or a way out of it. */
struct lz_source_place {
	uint32_t file, line;
	uint32_t fn, block, way; /* of a way: numbers that tell it from others; else 0 */
};
/* As qsort() takes it: by file, line, function, block and way. */
int lz_source_place_order(const struct lz_source_place *a, const struct lz_source_place *b);

/* One way out of a block with several. */
struct lz_covered_branch {
	struct lz_source_place at;
	uint32_t to; /* the line that it leads to; 0: it has none */
	uint64_t taken;
	bool reached; /* control came to its block */
};

struct lz_coverage {
	char **file; /* NULL: left out */
	uint32_t n_files;
	struct lz_covered_line *line; /* by file and line */
	size_t n_lines, lines_room;
	struct lz_covered_fn *fn;
	size_t n_fns, fns_room;
	struct lz_covered_branch *branch; /* in their order */
	size_t n_branches, branches_room;
	struct lz_numbers files, fns; /* numbers of these, by name and place */
};

/* Zeroes are an empty one. Adds what A is asked about. */
int lz_coverage_add(struct lz_coverage *c, struct lz_asked *a);
void lz_coverage_free(struct lz_coverage *c);

/* In the format of lcov's tracefiles (man geninfo). -1: the file cannot be written. */
int lz_coverage_write_lcov(const struct lz_coverage *c, FILE *to);

#endif
