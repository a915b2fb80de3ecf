/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The source graph of a record. */
#include <common/cfg/cfg_record.h>

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_SIZE = sizeof(struct lz_cfg_source_block),
	ARC_SIZE = sizeof(struct lz_cfg_source_arc)
};

static int damaged(size_t offset, const char *what)
{
	return lz_fail("section " LZ_CFG_SECTION
	               ", source graph of the record at offset %zu: %s; rebuild the program",
	               offset, what);
}

int lz_cfg_source_size(const char *at, uint64_t left, bool optional, uint64_t *size)
{
	struct lz_cfg_source h;

	if (left < sizeof(h))
		return -1;
	memcpy(&h, at, sizeof(h));
	*size = sizeof(h) + (uint64_t)h.n_blocks * BLOCK_SIZE + (uint64_t)h.n_arcs * ARC_SIZE +
	        (uint64_t)h.n_refs * sizeof(uint32_t);
	const bool none = optional && !h.n_blocks && !h.n_arcs && !h.n_refs;

	return *size <= left && h.n_refs % 2 == 0 && (h.n_blocks >= 2 || none) ? 0 : -1;
}

static int read_blocks(const char *at, const struct lz_cfg_header *h, const char *strings,
                       size_t offset, struct lz_source_graph *g)
{
	uint64_t lines = 0;

	for (uint32_t i = 0; i < g->n_blocks; i++) {
		struct lz_cfg_source_block b;

		memcpy(&b, at + (size_t)i * BLOCK_SIZE, sizeof(b));
		const bool known = b.callee != LZ_CFG_NO_CALLEE;
		lines += b.n_lines;
		if (b.first_line > h->n_lines || b.n_lines > h->n_lines - b.first_line ||
		    lines > h->n_lines)
			return damaged(offset, "a block's lines are out of range");
		if (b.node != LZ_CFG_NO_NODE && b.node >= h->n_nodes)
			return damaged(offset, "a block's node is out of range");
		if (known && b.callee >= h->strings_size)
			return damaged(offset, "a function's name is out of range");
		g->blocks[i] =
		    (struct lz_source_block){.node = b.node,
		                             .first_line = b.first_line,
		                             .n_lines = b.n_lines,
		                             .callee = known ? strings + b.callee : NULL};
	}
	return 0;
}

/* Each reference belongs to one arc: sums over all arcs are short. */
static int read_arcs(const char *at, size_t offset, struct lz_source_graph *g)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < g->n_arcs; i++) {
		struct lz_cfg_source_arc a;

		memcpy(&a, at + (size_t)i * ARC_SIZE, sizeof(a));
		if (a.src >= g->n_blocks || a.dst >= g->n_blocks)
			return damaged(offset, "an arc is out of range");
		if (a.first_ref != next || a.n_refs > g->n_refs - next)
			return damaged(offset, "an arc's edges are out of range");
		next += a.n_refs;
		g->arcs[i] = (struct lz_source_arc){a.src, a.dst, a.flags, a.first_ref, a.n_refs};
	}
	return 0;
}

static int read_refs(const struct lz_cfg_header *h, size_t offset, const struct lz_source_graph *g)
{
	for (uint32_t i = 0; i < g->n_refs; i++)
		if (g->refs[i] >= h->n_edges && g->refs[i])
			return damaged(offset, "an edge is out of range");
	return 0;
}

static int read_graph(const char *at, const struct lz_cfg_header *h, const char *strings,
                      size_t offset, struct lz_source_graph *g)
{
	const char *arcs = at + (size_t)g->n_blocks * BLOCK_SIZE;
	const char *refs = arcs + (size_t)g->n_arcs * ARC_SIZE;

	memcpy(g->refs, refs, (size_t)g->n_refs * sizeof(*g->refs));
	if (read_blocks(at, h, strings, offset, g) < 0 || read_arcs(arcs, offset, g) < 0)
		return -1;
	return read_refs(h, offset, g);
}

int lz_cfg_read_source(const char *at, const struct lz_cfg_header *h, const char *strings,
                       size_t offset, struct lz_source_graph **out)
{
	struct lz_cfg_source s;
	int rc = -1;

	memcpy(&s, at, sizeof(s));
	if (!s.n_blocks)
		return 0;
	struct lz_source_graph *g = calloc(1, sizeof(*g));
	if (g) {
		*g = (struct lz_source_graph){
		    .n_blocks = s.n_blocks, .n_arcs = s.n_arcs, .n_refs = s.n_refs};
		g->blocks = calloc(s.n_blocks, sizeof(*g->blocks));
		g->arcs = calloc((size_t)s.n_arcs + 1, sizeof(*g->arcs));
		g->refs = calloc((size_t)s.n_refs + 1, sizeof(*g->refs));
	}
	if (!g || !g->blocks || !g->arcs || !g->refs)
		lz_fail("out of memory reading the control-flow graphs");
	else
		rc = read_graph(at + sizeof(s), h, strings, offset, g);
	if (rc < 0) {
		lz_cfg_free_source(g);
		return -1;
	}
	*out = g;
	return 0;
}

void lz_cfg_free_source(struct lz_source_graph *g)
{
	if (!g)
		return;
	free(g->blocks);
	free(g->arcs);
	free(g->refs);
	free(g);
}
