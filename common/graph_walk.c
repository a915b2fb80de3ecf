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

static int make_adjacency(const struct lz_graph *g, bool by_dst, struct adjacency *a)
{
	a->first = calloc((size_t)g->n_nodes + 2, sizeof(*a->first));
	a->edge = calloc(g->n_edges + 1, sizeof(*a->edge));
	if (!a->first || !a->edge) {
		free_adjacency(a);
		return -1;
	}
	for (size_t i = 0; i < g->n_edges; i++)
		a->first[(by_dst ? g->edges[i].dst : g->edges[i].src) + 2]++;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		a->first[v + 2] += a->first[v + 1];
	for (size_t i = 0; i < g->n_edges; i++)
		a->edge[a->first[(by_dst ? g->edges[i].dst : g->edges[i].src) + 1]++] = (uint32_t)i;
	return 0;
}

struct walk {
	const struct lz_graph *g;
	struct adjacency adj;
	bool backward;
	uint32_t *stack; /* places to visit */
	size_t n_stack;
	uint32_t *from; /* [2 n_nodes]: place we came from, NOWHERE if not seen */
	uint32_t *ids;  /* markers met */
	size_t n_ids;
};

static void end_walk(struct walk *w)
{
	free_adjacency(&w->adj);
	free(w->stack);
	free(w->from);
	free(w->ids);
}

static int begin_walk(struct walk *w, const struct lz_graph *g, bool backward)
{
	size_t places = 2 * (size_t)g->n_nodes;

	memset(w, 0, sizeof(*w));
	w->g = g;
	w->backward = backward;
	w->stack = calloc(places + 1, sizeof(*w->stack));
	w->from = malloc((places + 1) * sizeof(*w->from));
	w->ids = calloc(g->n_edges + g->n_nodes + 2, sizeof(*w->ids));
	if (!w->stack || !w->from || !w->ids || make_adjacency(g, backward, &w->adj) < 0) {
		w->adj = (struct adjacency){0};
		end_walk(w);
		return -1;
	}
	memset(w->from, 0xff, (places + 1) * sizeof(*w->from));
	return 0;
}

static void visit(struct walk *w, uint32_t place, uint32_t from)
{
	if (w->from[place] != NOWHERE)
		return;
	w->from[place] = from;
	w->stack[w->n_stack++] = place;
}

/* All marker-free steps from one place; markers met are noted. */
static void step(struct walk *w, uint32_t place)
{
	const struct lz_graph *g = w->g;
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
	for (size_t i = w->adj.first[v]; i < w->adj.first[v + 1]; i++) {
		const struct lz_edge *e = &g->edges[w->adj.edge[i]];

		if (e->marker)
			w->ids[w->n_ids++] = e->marker;
		else
			visit(w, w->backward ? 2 * e->src + 1 : 2 * e->dst, place);
	}
}

static int ascending(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

static int64_t marker_set(const struct lz_graph *g, uint32_t node, bool backward, uint32_t **ids)
{
	bool last = g->node_flags && (g->node_flags[node] & LZ_NODE_MARK_LAST);
	struct walk w;
	int64_t n = 0;

	*ids = NULL;
	if (begin_walk(&w, g, backward) < 0)
		return -1;
	/* the node's code lies behind its marker, or before it if that is last */
	visit(&w, 2 * node + !last, 2 * node + !last);
	while (w.n_stack)
		step(&w, w.stack[--w.n_stack]);
	qsort(w.ids, w.n_ids, sizeof(*w.ids), ascending);
	for (size_t i = 0; i < w.n_ids; i++)
		if (n == 0 || w.ids[i] != w.ids[n - 1])
			w.ids[n++] = w.ids[i];
	*ids = w.ids;
	w.ids = NULL;
	end_walk(&w);
	return n;
}

int64_t lz_graph_preset(const struct lz_graph *g, uint32_t node, uint32_t **ids)
{
	return marker_set(g, node, true, ids);
}

int64_t lz_graph_postset(const struct lz_graph *g, uint32_t node, uint32_t **ids)
{
	return marker_set(g, node, false, ids);
}

/* The place behind (or before) marker ID. */
static uint32_t place_at(const struct lz_graph *g, uint32_t id, bool behind)
{
	if (id == LZ_SET_ENTER)
		return behind ? 2 * g->entry : NOWHERE;
	if (id == LZ_SET_EXIT)
		return behind ? NOWHERE : 2 * g->exit + 1;
	if (id == 0)
		return NOWHERE;
	for (size_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].marker == id)
			return behind ? 2 * g->edges[i].dst : 2 * g->edges[i].src + 1;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (g->node_marker[v] == id)
			return behind ? 2 * v + 1 : 2 * v;
	return NOWHERE;
}

/* The nodes on the way that led to place LAST, in order. */
static int64_t collect_path(const struct walk *w, uint32_t last, uint32_t **nodes)
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

int64_t lz_graph_path(const struct lz_graph *g, uint32_t a, uint32_t b, uint32_t **nodes)
{
	uint32_t start = place_at(g, a, true), goal = place_at(g, b, false);
	struct walk w;
	int64_t n = 0;

	*nodes = NULL;
	if (start == NOWHERE || goal == NOWHERE)
		return 0;
	if (begin_walk(&w, g, false) < 0)
		return -1;
	visit(&w, start, start);
	while (w.n_stack && w.from[goal] == NOWHERE)
		step(&w, w.stack[--w.n_stack]);
	if (w.from[goal] != NOWHERE)
		n = collect_path(&w, goal, nodes);
	end_walk(&w);
	return n;
}
