/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <lizard/graph.h>

#include <stdlib.h>
#include <string.h>

/* Each node v is split in two: in(v) = 2v, where edges arrive, and out(v) = 2v+1,
 * where they leave. A marker inside v sits on the inner edge in(v)->out(v), so
 * that one spanning tree over the split graph decides on both kinds.
 *
 * An unmarkable edge that is off the tree needs nothing: its cycle consists of
 * unmarkable edges only, so it holds no inner edge (unless that is unmarkable
 * too), and without one no two directed paths can part and meet in it. */

struct choice {
	uint64_t weight;
	uint32_t rank; /* unmarkable 2, inner 1, markable 0 */
	uint32_t a, b; /* split nodes */
	uint32_t *marker;
};

static unsigned node_flags(const struct lz_graph *g, uint32_t v)
{
	return g->node_flags ? g->node_flags[v] : 0;
}

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
	while (parent[v] != v) {
		parent[v] = parent[parent[v]];
		v = parent[v];
	}
	return v;
}

static int heavier_first(const void *pa, const void *pb)
{
	const struct choice *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	/* qsort is not stable: the order in the graph decides */
	return a->marker < b->marker ? -1 : a->marker > b->marker;
}

static size_t list_choices(struct lz_graph *g, struct choice *c)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_edges; i++) {
		struct lz_edge *e = &g->edges[i];

		e->marker = 0;
		c[n++] = (struct choice){e->weight, e->unmarkable ? 2 : 0, 2 * e->src + 1,
		                         2 * e->dst, &e->marker};
	}
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		bool free = !(node_flags(g, v) & LZ_NODE_UNMARKABLE);

		g->node_marker[v] = 0;
		if (!free || !(node_flags(g, v) & LZ_NODE_LANDING))
			c[n++] =
			    (struct choice){0, free ? 1 : 2, 2 * v, 2 * v + 1, &g->node_marker[v]};
	}
	return n;
}

int64_t lz_graph_place_markers(struct lz_graph *g)
{
	size_t max = g->n_edges + g->n_nodes;
	struct choice *c = calloc(max + 1, sizeof(*c));
	uint32_t *parent = calloc(2 * (size_t)g->n_nodes + 1, sizeof(*parent));
	size_t n, off_tree = 0;
	uint32_t id = 0;

	if (!c || !parent) {
		free(c);
		free(parent);
		return -1;
	}
	for (uint32_t v = 0; v < 2 * g->n_nodes; v++)
		parent[v] = v;
	n = list_choices(g, c);
	qsort(c, n, sizeof(*c), heavier_first);
	for (size_t i = 0; i < n; i++) {
		uint32_t a = find_root(parent, c[i].a), b = find_root(parent, c[i].b);

		if (a != b)
			parent[a] = b;
		else if (c[i].rank < 2)
			c[off_tree++] = c[i];
	}
	for (size_t i = 0; i < off_tree; i++)
		if (c[i].rank == 0)
			*c[i].marker = ++id;
	for (size_t i = 0; i < off_tree; i++)
		if (c[i].rank == 1)
			*c[i].marker = ++id;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if ((node_flags(g, v) & (LZ_NODE_LANDING | LZ_NODE_UNMARKABLE)) == LZ_NODE_LANDING)
			g->node_marker[v] = ++id;
	free(parent);
	free(c);
	return id;
}
