/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/coverage/counted_paths.h"

static bool is_of_node(const struct lz_graph *g, uint32_t id, uint32_t node, bool last)
{
	const bool is_last = g->node_flags && g->node_flags[node] & LZ_NODE_MARK_LAST;

	return g->node_marker[node] == id && is_last == last;
}

/* A marker in a node stands in front of its code, or behind it: it is counted once. */
static void add_nodes(const struct lz_counted_path *p, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < p->n; i++) {
		const uint32_t v = p->node[i];
		const bool before = i == 0 && is_of_node(p->g, from, v, true);
		const bool after = i + 1 == p->n && is_of_node(p->g, to, v, false);
		if (!before && !after)
			p->c->node[v] += p->times;
	}
}

static void add_edge(const struct lz_counted_path *p, uint32_t src, uint32_t dst)
{
	for (size_t i = 0; i < p->g->n_edges; i++) {
		const struct lz_edge *e = &p->g->edges[i];
		if (!e->marker && e->src == src && e->dst == dst) {
			p->c->edge[i] += p->times;
			return;
		}
	}
}

void lz_counted_path_add(const struct lz_counted_path *p, uint32_t from, uint32_t to)
{
	add_nodes(p, from, to);
	for (size_t i = 0; i + 1 < p->n; i++)
		add_edge(p, p->node[i], p->node[i + 1]);
}

void lz_counted_path_add_marked(const struct lz_counted_path *p, uint32_t id)
{
	for (size_t i = 0; i < p->g->n_edges; i++)
		if (p->g->edges[i].marker == id)
			p->c->edge[i] += p->times;
}

void lz_counted_path_add_begun(const struct lz_counted_path *p, uint32_t last)
{
	for (size_t i = 0; i < p->g->n_edges; i++) {
		const struct lz_edge *e = &p->g->edges[i];
		const bool entered = last == LZ_SET_ENTER && e->src == p->g->entry && !e->marker;

		if (!entered && (!e->marker || e->marker != last))
			continue;
		p->c->node[e->dst] += p->times;
		p->c->edge[i] += entered ? p->times : 0;
	}
}
