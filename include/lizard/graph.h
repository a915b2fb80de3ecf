/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graph algorithms of the instrumentation: plain C, no GCC.
 *
 * Nodes are 0..n-1. Node ENTRY has no predecessors, node EXIT no successors.
 * Sources: Ball and Larus 1994 section 3 (markers on the edges off a
 * maximum-weight spanning tree); Lizard, "Tracing and Replaying algorithms"
 * (pre- and post-sets). Ball and Larus's virtual edge EXIT->ENTRY counts as
 * marked already: the ENTER and EXIT markers are always written.
 *
 * What is guaranteed: of all paths from one marker (or entry) to the next (or
 * exit) exactly one is free of markers in between, so two different paths give
 * different marker sequences; and every directed cycle holds a marker. */
#ifndef LIZARD_GRAPH_H
#define LIZARD_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lz_edge {
	uint32_t src, dst;
	uint64_t weight; /* how often it is taken, estimated */
	bool unmarkable; /* abnormal or EH: must never carry a marker */
	uint32_t marker; /* out: 0 = none, else the id, counted from 1 */
};

enum lz_node_flags {
	LZ_NODE_UNMARKABLE = 1, /* no code can be put in it */
	LZ_NODE_LANDING = 2,    /* a landing site: always gets a node marker */
	LZ_NODE_MARK_LAST = 4   /* its marker stands at its end, else at its start */
};

struct lz_graph {
	uint32_t n_nodes, entry, exit;
	size_t n_edges;
	struct lz_edge *edges; /* owned by the caller */
	/* [n_nodes], out: id of a marker inside the node (needed where a cycle consists of
	 * unmarkable edges only), 0 = none. Owned by the caller. */
	uint32_t *node_marker;
	const uint8_t *node_flags; /* [n_nodes] of lz_node_flags, or NULL: all 0 */
};

/* Chooses markers. Marker ids count up with falling weight: the busiest marked
 * edges have the short ids. Sets edges[].marker and node_marker[]; returns how many ids
 * were used, or -1 (lz_fail is not used: out of memory is the only error). */
int64_t lz_graph_place_markers(struct lz_graph *g);

/* Special members of pre- and post-sets: the function's own boundaries. */
#define LZ_SET_ENTER 0xFFFFFFFEu /* nothing but function entry lies between */
#define LZ_SET_EXIT 0xFFFFFFFDu

/* Marker ids that can come immediately before (PRE) or after (POST) the code of NODE, ascending; a
 * marker in the node itself counts. *ids is malloced, the caller frees it. Returns the count or
 * -1. */
int64_t lz_graph_preset(const struct lz_graph *g, uint32_t node, uint32_t **ids);
int64_t lz_graph_postset(const struct lz_graph *g, uint32_t node, uint32_t **ids);

/* The only marker-free path from marker A (or LZ_SET_ENTER) to marker B (or
 * LZ_SET_EXIT): node numbers in order, from the node that A leads into (or the
 * node that holds it) to the node that B leaves. *nodes is malloced.
 * Returns the count; 0 if there is none. */
int64_t lz_graph_path(const struct lz_graph *g, uint32_t a, uint32_t b, uint32_t **nodes);

/* For many questions about one graph, which must outlive the walker: the same
 * answers without setting up each time. NULL: out of memory. */
struct lz_graph_walker;
struct lz_graph_walker *lz_graph_walker_open(const struct lz_graph *g);
void lz_graph_walker_close(struct lz_graph_walker *w);
/* How many edges it may look at for sets from now on; how many are left. At first there is no
 * limit. */
void lz_graph_walker_limit(struct lz_graph_walker *w, uint64_t left);
uint64_t lz_graph_walker_left(const struct lz_graph_walker *w);
/* From here on paths avoid, or do not avoid, edges to landing sites, of which a marker tells, and
 * those by which GCC joins them: not at first. */
void lz_graph_walker_avoid(struct lz_graph_walker *w, bool landings);
/* *ids belongs to the walker and is good until its next call. -1: the limit was met. */
int64_t lz_graph_walker_set(struct lz_graph_walker *w, uint32_t node, bool post,
                            const uint32_t **ids);
int64_t lz_graph_walker_path(struct lz_graph_walker *w, uint32_t a, uint32_t b, uint32_t **nodes);
/* The marker-free path from A to the code of NODE. */
int64_t lz_graph_walker_path_to(struct lz_graph_walker *w, uint32_t a, uint32_t node,
                                uint32_t **nodes);

#endif
