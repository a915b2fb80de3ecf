/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph that source.cc collects and source_link.cc links with the nodes and edges that have come
 * of it. */
#ifndef LIZARD_PLUGIN_SOURCE_H
#define LIZARD_PLUGIN_SOURCE_H

struct source_block {
	basic_block bb; /* of which it is the first part, or NULL */
	unsigned first_line, n_lines;
	const char *callee; /* of the call that ends it, or NULL */
};

struct source_arc {
	unsigned src, dst; /* dst 0: JUMP, if it is not negative, else where TO begins */
	int jump;
	unsigned flags;
	/* it is the edge from FROM to TO, or a part of it; FROM has no other: NULL */
	basic_block from, to;
	int sense; /* EDGE_TRUE_VALUE, EDGE_FALSE_VALUE or 0 */
};

struct origin {
	unsigned number; /* of its first block */
	gimple *first, *last;
	basic_block pred, succ; /* the only ones, or NULL */
	/* nodes now: the block itself, and the one with its first statement */
	unsigned here, code;
};

/* A block for the line of a jump that is an edge now. */
struct jump {
	edge e;
	int next; /* at the same place, or -1 */
	unsigned block;
};

struct source {
	auto_vec<source_block> blocks;
	auto_vec<source_arc> arcs;
	auto_vec<lz_line> lines;
	hash_set<int_hash<location_t, UNKNOWN_LOCATION, BUILTINS_LOCATION>>
	    seen; /* of statements, see lz_gcov_place() */
	hash_map<basic_block, origin> origins;
	auto_vec<jump> jumps;
	auto_vec<int> jump_after; /* by block index: the first one behind it, or -1 */
	hash_map<edge, int> jumping;
};

/* Of the current function; NULL: none. */
extern struct source *lz_source;

enum { LZ_SOURCE_ENTRY, LZ_SOURCE_EXIT };

#endif
