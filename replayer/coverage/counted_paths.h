/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways through a function, added to its counts. */
#ifndef LIZARD_REPLAYER_COUNTED_PATHS_H
#define LIZARD_REPLAYER_COUNTED_PATHS_H

#include "replayer/coverage/counts.h"
#include <lizard/graph.h>

struct lz_counted_path {
	const struct lz_graph *g;
	struct lz_fn_counts *c;
	const uint32_t *node;
	size_t n;
	uint64_t times;
};

/* What lies between marker FROM and marker TO. */
void lz_counted_path_add(const struct lz_counted_path *p, uint32_t from, uint32_t to);
/* The edge that carries marker ID. */
void lz_counted_path_add_marked(const struct lz_counted_path *p, uint32_t id);
/* The block that marker LAST led to has begun. Nothing more is certain. */
void lz_counted_path_add_begun(const struct lz_counted_path *p, uint32_t last);

#endif
