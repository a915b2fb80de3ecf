/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marker-free walks over a graph: pre-sets, post-sets, paths. A place is a
 * split node as in graph.c: 2v before the marker of v, 2v+1 behind it. */
#include <lizard/graph.h>

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

struct adjacency {
	size_t *first;  /* [n_nodes + 1], slices of edge */
	uint32_t *edge; /* edge numbers, by src or by dst */
};

static void free_adjacency(struct adjacency *a)
{
	free(a->first);
	free(a->edge);
}

/* What an error leaves behind is the caller's to free. */
static int make_adjacency(const struct lz_graph *g, bool by_dst, struct adjacency *a)
{
	a->first = calloc((size_t)g->n_nodes + 2, sizeof(*a->first));
	a->edge = calloc(g->n_edges + 1, sizeof(*a->edge));
	if (!a->first || !a->edge)
		return -1;
	for (size_t i = 0; i < g->n_edges; i++)
		a->first[(by_dst ? g->edges[i].dst : g->edges[i].src) + 2]++;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		a->first[v + 2] += a->first[v + 1];
	for (size_t i = 0; i < g->n_edges; i++)
		a->edge[a->first[(by_dst ? g->edges[i].dst : g->edges[i].src) + 1]++] = (uint32_t)i;
	return 0;
}

struct lz_graph_walker {
	const struct lz_graph *g;
	struct adjacency succ, pred;
	bool backward;
	uint32_t *stack; /* places to visit */
	size_t n_stack;
	uint32_t *from; /* [2 n_nodes]: place we came from, if seen in this walk */
	uint32_t *seen; /* [2 n_nodes]: the number of the walk */
	uint32_t walk;
	uint32_t *ids; /* markers met */
	size_t n_ids;
	uint32_t *behind, *before; /* [n_places]: the place of a marker id, NOWHERE */
	uint32_t n_places;
	uint64_t left; /* edges that may still be looked at */
	bool avoids;   /* edges to landing sites */
};

void lz_graph_walker_limit(struct lz_graph_walker *w, uint64_t left)
{
	w->left = left;
}

void lz_graph_walker_avoid(struct lz_graph_walker *w, bool landings)
{
	w->avoids = landings;
}

uint64_t lz_graph_walker_left(const struct lz_graph_walker *w)
{
	return w->left;
}

void lz_graph_walker_close(struct lz_graph_walker *w)
{
	if (!w)
		return;
	free_adjacency(&w->succ);
	free_adjacency(&w->pred);
	free(w->stack);
	free(w->from);
	free(w->seen);
	free(w->ids);
	free(w->behind);
	free(w->before);
	free(w);
}

/* Ids beyond the number of edges and nodes (a damaged file) are nowhere. */
static int find_places(struct lz_graph_walker *w)
{
	const struct lz_graph *g = w->g;
	size_t n = g->n_edges + g->n_nodes + 1;

	w->behind = malloc(n * sizeof(*w->behind));
	w->before = malloc(n * sizeof(*w->before));
	if (!w->behind || !w->before)
		return -1;
	w->n_places = (uint32_t)n;
	memset(w->behind, 0xff, n * sizeof(*w->behind));
	memset(w->before, 0xff, n * sizeof(*w->before));
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		if (g->node_marker[v] < n) {
			w->before[g->node_marker[v]] = 2 * v;
			w->behind[g->node_marker[v]] = 2 * v + 1;
		}
	}
	for (size_t i = 0; i < g->n_edges; i++) {
		if (g->edges[i].marker < n) {
			w->before[g->edges[i].marker] = 2 * g->edges[i].src + 1;
			w->behind[g->edges[i].marker] = 2 * g->edges[i].dst;
		}
	}
	return 0;
}

struct lz_graph_walker *lz_graph_walker_open(const struct lz_graph *g)
{
	struct lz_graph_walker *w = calloc(1, sizeof(*w));
	size_t places = 2 * (size_t)g->n_nodes + 1;

	if (!w)
		return NULL;
	w->g = g;
	w->left = UINT64_MAX;
	w->stack = calloc(places, sizeof(*w->stack));
	w->from = calloc(places, sizeof(*w->from));
	w->seen = calloc(places, sizeof(*w->seen));
	w->ids = calloc(g->n_edges + g->n_nodes + 2, sizeof(*w->ids));
	if (!w->stack || !w->from || !w->seen || !w->ids || find_places(w) < 0 ||
	    make_adjacency(g, false, &w->succ) < 0 || make_adjacency(g, true, &w->pred) < 0) {
		lz_graph_walker_close(w);
		return NULL;
	}
	return w;
}

static void begin_walk(struct lz_graph_walker *w, bool backward)
{
	w->backward = backward;
	w->n_stack = w->n_ids = 0;
	w->walk++;
}

static void visit(struct lz_graph_walker *w, uint32_t place, uint32_t from)
{
	if (w->seen[place] == w->walk)
		return;
	w->seen[place] = w->walk;
	w->from[place] = from;
	w->stack[w->n_stack++] = place;
}

/* Also from and to GCC's junction of such edges, in which no code is. A computed goto is no landing:
 * its edges cannot be marked either. */
static bool is_landing(const struct lz_graph *g, const struct lz_edge *e)
{
	if (!e->unmarkable || !g->node_flags)
		return false;
	return g->node_flags[e->dst] & (LZ_NODE_LANDING | LZ_NODE_UNMARKABLE) ||
	       g->node_flags[e->src] & LZ_NODE_UNMARKABLE;
}

/* All marker-free steps from one place; markers met are noted. */
static void step(struct lz_graph_walker *w, uint32_t place)
{
	const struct lz_graph *g = w->g;
	const struct adjacency *adj = w->backward ? &w->pred : &w->succ;
	uint32_t v = place / 2;
	bool behind = place & 1;

	if (behind == w->backward) {
		if (g->node_marker[v])
			w->ids[w->n_ids++] = g->node_marker[v];
		else
			visit(w, place ^ 1, place);
		return;
	}
	if (v == (w->backward ? g->entry : g->exit)) {
		w->ids[w->n_ids++] = w->backward ? LZ_SET_ENTER : LZ_SET_EXIT;
		return;
	}
	for (size_t i = adj->first[v]; i < adj->first[v + 1]; i++) {
		const struct lz_edge *e = &g->edges[adj->edge[i]];

		if (w->avoids && is_landing(g, e))
			continue;
		if (e->marker)
			w->ids[w->n_ids++] = e->marker;
		else
			visit(w, w->backward ? 2 * e->src + 1 : 2 * e->dst, place);
	}
}

/* False: the step is one too many. */
static bool pay(struct lz_graph_walker *w, uint32_t place)
{
	const struct adjacency *adj = w->backward ? &w->pred : &w->succ;
	uint64_t price = 1 + adj->first[place / 2 + 1] - adj->first[place / 2];

	if (w->left < price)
		return false;
	w->left -= price;
	return true;
}

static int ascending(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

int64_t lz_graph_walker_set(struct lz_graph_walker *w, uint32_t node, bool post,
                            const uint32_t **ids)
{
	bool last = w->g->node_flags && (w->g->node_flags[node] & LZ_NODE_MARK_LAST);
	size_t n = 0;

	begin_walk(w, !post);
	/* the node's code lies behind its marker, or before it if that is last */
	visit(w, 2 * node + !last, 2 * node + !last);
	while (w->n_stack && pay(w, w->stack[w->n_stack - 1]))
		step(w, w->stack[--w->n_stack]);
	if (w->n_stack)
		return -1;
	qsort(w->ids, w->n_ids, sizeof(*w->ids), ascending);
	for (size_t i = 0; i < w->n_ids; i++)
		if (n == 0 || w->ids[i] != w->ids[n - 1])
			w->ids[n++] = w->ids[i];
	*ids = w->ids;
	return (int64_t)n;
}

static int64_t marker_set(const struct lz_graph *g, uint32_t node, bool post, uint32_t **ids)
{
	struct lz_graph_walker *w = lz_graph_walker_open(g);
	const uint32_t *found;
	int64_t n = -1;

	*ids = NULL;
	if (!w)
		return -1;
	n = lz_graph_walker_set(w, node, post, &found);
	*ids = malloc(((size_t)n + 1) * sizeof(**ids));
	if (*ids)
		memcpy(*ids, found, (size_t)n * sizeof(**ids));
	else
		n = -1;
	lz_graph_walker_close(w);
	return n;
}

int64_t lz_graph_preset(const struct lz_graph *g, uint32_t node, uint32_t **ids)
{
	return marker_set(g, node, false, ids);
}

int64_t lz_graph_postset(const struct lz_graph *g, uint32_t node, uint32_t **ids)
{
	return marker_set(g, node, true, ids);
}

/* The place behind (or before) marker ID. */
static uint32_t place_at(const struct lz_graph_walker *w, uint32_t id, bool behind)
{
	if (id == LZ_SET_ENTER)
		return behind ? 2 * w->g->entry : NOWHERE;
	if (id == LZ_SET_EXIT)
		return behind ? NOWHERE : 2 * w->g->exit + 1;
	if (id == 0 || id >= w->n_places)
		return NOWHERE;
	return behind ? w->behind[id] : w->before[id];
}

/* The nodes on the way that led to place LAST, in order. */
static int64_t collect_path(const struct lz_graph_walker *w, uint32_t last, uint32_t **nodes)
{
	uint32_t *path = malloc(((size_t)w->g->n_nodes + 1) * sizeof(*path));
	size_t n = 0;

	if (!path)
		return -1;
	for (uint32_t p = last;; p = w->from[p]) {
		if (n == 0 || path[n - 1] != p / 2) {
			if (n == (size_t)w->g->n_nodes + 1)
				break;
			path[n++] = p / 2;
		}
		if (w->from[p] == p)
			break;
	}
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t t = path[i];

		path[i] = path[n - 1 - i];
		path[n - 1 - i] = t;
	}
	*nodes = path;
	return (int64_t)n;
}

static int64_t path_to_place(struct lz_graph_walker *w, uint32_t start, uint32_t goal,
                             uint32_t **nodes)
{
	*nodes = NULL;
	if (start == NOWHERE || goal == NOWHERE)
		return 0;
	begin_walk(w, false);
	visit(w, start, start);
	while (w->n_stack && w->seen[goal] != w->walk)
		step(w, w->stack[--w->n_stack]);
	return w->seen[goal] == w->walk ? collect_path(w, goal, nodes) : 0;
}

int64_t lz_graph_walker_path(struct lz_graph_walker *w, uint32_t a, uint32_t b, uint32_t **nodes)
{
	return path_to_place(w, place_at(w, a, true), place_at(w, b, false), nodes);
}

int64_t lz_graph_walker_path_to(struct lz_graph_walker *w, uint32_t a, uint32_t node,
                                uint32_t **nodes)
{
	const bool last = w->g->node_flags && w->g->node_flags[node] & LZ_NODE_MARK_LAST;

	return path_to_place(w, place_at(w, a, true), 2 * node + !last, nodes);
}

int64_t lz_graph_path(const struct lz_graph *g, uint32_t a, uint32_t b, uint32_t **nodes)
{
	struct lz_graph_walker *w = lz_graph_walker_open(g);
	int64_t n;

	*nodes = NULL;
	if (!w)
		return -1;
	n = lz_graph_walker_path(w, a, b, nodes);
	lz_graph_walker_close(w);
	return n;
}
