/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marker placement, marker sets and paths against brute force on random graphs. */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/graph.h>

enum { MAX_NODES = 9, MAX_EDGES = 40, MAX_SEQ = 12 };

static uint64_t seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

struct sample {
	struct lz_graph g;
	struct lz_edge edges[MAX_EDGES];
	uint32_t node_marker[MAX_NODES];
	uint8_t flags[MAX_NODES];
	int64_t n_markers;
};

static bool has_edge(const struct sample *s, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < s->g.n_edges; i++)
		if (s->edges[i].src == a && s->edges[i].dst == b)
			return true;
	return false;
}

static void add_edge(struct sample *s, uint32_t a, uint32_t b, unsigned unmarkable_percent)
{
	bool un = rnd(100) < unmarkable_percent;

	if (s->g.n_edges == MAX_EDGES || a == s->g.exit || b == s->g.entry)
		return;
	/* a compiler's graph has at most one edge between two nodes, but parallel
	 * markable ones must work too */
	if (has_edge(s, a, b) && (un || rnd(4)))
		return;
	s->edges[s->g.n_edges++] = (struct lz_edge){a, b, rnd(1000), un, 0};
}

/* Node 0 is entry, 1 exit. */
static void make_sample(struct sample *s, unsigned unmarkable_percent, bool landings)
{
	unsigned n = 3 + rnd(MAX_NODES - 2);

	memset(s, 0, sizeof(*s));
	s->g = (struct lz_graph){n, 0, 1, 0, s->edges, s->node_marker, s->flags};
	s->flags[0] = s->flags[1] = LZ_NODE_UNMARKABLE;
	for (unsigned v = 2; landings && v < n; v++)
		if (rnd(4) == 0)
			s->flags[v] = LZ_NODE_LANDING | (rnd(2) ? LZ_NODE_MARK_LAST : 0);
	add_edge(s, 0, 2, 0);
	for (unsigned v = 2; v < n; v++)
		add_edge(s, v, 1 + rnd(n - 1), unmarkable_percent);
	for (unsigned i = rnd(2 * n); i > 0; i--)
		add_edge(s, 2 + rnd(n - 2), 1 + rnd(n - 1), unmarkable_percent);
	s->n_markers = lz_graph_place_markers(&s->g);
	ck_assert_int_ge(s->n_markers, 0);
}

static void check_ids(const struct sample *s)
{
	unsigned used[MAX_EDGES + MAX_NODES + 1] = {0};
	unsigned n = 0;

	for (size_t i = 0; i < s->g.n_edges; i++) {
		ck_assert(!(s->edges[i].unmarkable && s->edges[i].marker));
		if (s->edges[i].marker) {
			ck_assert_uint_le(s->edges[i].marker, s->n_markers);
			ck_assert_uint_eq(used[s->edges[i].marker]++, 0);
			n++;
		}
	}
	for (uint32_t v = 0; v < s->g.n_nodes; v++) {
		if (s->flags[v] & LZ_NODE_LANDING)
			ck_assert(s->node_marker[v] != 0);
		if (s->flags[v] & LZ_NODE_UNMARKABLE)
			ck_assert(s->node_marker[v] == 0);
		if (s->node_marker[v]) {
			ck_assert_uint_eq(used[s->node_marker[v]]++, 0);
			n++;
		}
	}
	ck_assert_int_eq(n, s->n_markers);
}

/* --- brute force: walk all paths up to a length --- */

/* Notes for every ordered pair of markers (and ends) the number of marker-free
 * node paths between them, and one of them. */
struct pairs {
	unsigned count[64][64];
	uint32_t path[64][64][MAX_NODES + 1];
	unsigned length[64][64];
	bool pre[MAX_NODES][64], post[MAX_NODES][64];
};

enum { ENTER = 62, EXIT = 63 };

struct probe {
	const struct sample *s;
	struct pairs *p;
	unsigned from;
	uint32_t path[MAX_NODES + 1];
	unsigned n;
	bool on_path[2 * MAX_NODES];
};

static void meet(struct probe *b, unsigned marker)
{
	struct pairs *p = b->p;

	p->count[b->from][marker]++;
	memcpy(p->path[b->from][marker], b->path, sizeof(b->path));
	p->length[b->from][marker] = b->n;
}

static void walk_place(struct probe *b, uint32_t v, bool behind, unsigned depth);

static void walk_out(struct probe *b, uint32_t v, unsigned depth)
{
	const struct sample *s = b->s;

	if (v == s->g.exit) {
		meet(b, EXIT);
		return;
	}
	for (size_t i = 0; i < s->g.n_edges; i++) {
		const struct lz_edge *e = &s->edges[i];

		if (e->src != v)
			continue;
		if (e->marker)
			meet(b, e->marker);
		else
			walk_place(b, e->dst, false, depth + 1);
	}
}

/* BEHIND: behind the marker of V. Marker-free cycles are an error. */
static void walk_place(struct probe *b, uint32_t v, bool behind, unsigned depth)
{
	unsigned place = 2 * v + behind;
	bool fresh = b->n == 0 || b->path[b->n - 1] != v;

	ck_assert(!b->on_path[place]);
	b->on_path[place] = true;
	if (fresh)
		b->path[b->n++] = v;
	if (behind)
		walk_out(b, v, depth);
	else if (b->s->node_marker[v])
		meet(b, b->s->node_marker[v]);
	else
		walk_place(b, v, true, depth);
	if (fresh)
		b->n--;
	b->on_path[place] = false;
}

static void probe_from(const struct sample *s, struct pairs *p, unsigned from, uint32_t v,
                       bool behind)
{
	struct probe b = {.s = s, .p = p, .from = from};

	walk_place(&b, v, behind, 0);
}

static void probe_all(const struct sample *s, struct pairs *p)
{
	memset(p, 0, sizeof(*p));
	probe_from(s, p, ENTER, s->g.entry, false);
	for (size_t i = 0; i < s->g.n_edges; i++)
		if (s->edges[i].marker)
			probe_from(s, p, s->edges[i].marker, s->edges[i].dst, false);
	for (uint32_t v = 0; v < s->g.n_nodes; v++)
		if (s->node_marker[v])
			probe_from(s, p, s->node_marker[v], v, true);
}

static uint32_t public_id(unsigned id)
{
	return id == ENTER ? LZ_SET_ENTER : id == EXIT ? LZ_SET_EXIT : id;
}

static void check_paths(const struct sample *s, const struct pairs *p)
{
	for (unsigned a = 0; a < 64; a++) {
		for (unsigned b = 0; b < 64; b++) {
			uint32_t *nodes;
			int64_t n;

			if ((a > s->n_markers && a < ENTER) || (b > s->n_markers && b < ENTER))
				continue;
			n = lz_graph_path(&s->g, public_id(a), public_id(b), &nodes);
			/* the property that matters: never two ways */
			ck_assert_uint_le(p->count[a][b], 1);
			ck_assert_int_eq(n, p->count[a][b] ? p->length[a][b] : 0);
			if (n)
				ck_assert_mem_eq(nodes, p->path[a][b], (size_t)n * sizeof(*nodes));
			free(nodes);
		}
	}
}

/* Forwards from a place, with a set of places seen. */
static void reach(const struct sample *s, uint32_t v, bool behind, bool *seen, bool *ids)
{
	if (seen[2 * v + behind])
		return;
	seen[2 * v + behind] = true;
	if (!behind) {
		if (s->node_marker[v])
			ids[s->node_marker[v]] = true;
		else
			reach(s, v, true, seen, ids);
		return;
	}
	if (v == s->g.exit)
		ids[EXIT] = true;
	for (size_t i = 0; i < s->g.n_edges; i++) {
		if (s->edges[i].src != v)
			continue;
		if (s->edges[i].marker)
			ids[s->edges[i].marker] = true;
		else
			reach(s, s->edges[i].dst, false, seen, ids);
	}
}

static bool code_behind_marker(const struct sample *s, uint32_t v)
{
	return !(s->flags[v] & LZ_NODE_MARK_LAST);
}

/* Is the code of V reached without a marker from the place behind marker ID? */
static bool leads_to(const struct sample *s, unsigned id, uint32_t v)
{
	bool seen[2 * MAX_NODES] = {0}, ids[64] = {0};

	if (id == ENTER)
		reach(s, s->g.entry, false, seen, ids);
	for (size_t i = 0; i < s->g.n_edges; i++)
		if (s->edges[i].marker == id && id)
			reach(s, s->edges[i].dst, false, seen, ids);
	for (uint32_t w = 0; w < s->g.n_nodes; w++)
		if (s->node_marker[w] == id && id)
			reach(s, w, true, seen, ids);
	return seen[2 * v + code_behind_marker(s, v)];
}

static void compare_set(const uint32_t *got, int64_t n, const bool *want)
{
	int64_t k = 0;

	for (unsigned id = 0; id < 64; id++) {
		if (!want[id] || id == ENTER || id == EXIT)
			continue;
		ck_assert_int_lt(k, n);
		ck_assert_uint_eq(got[k++], id);
	}
	/* LZ_SET_EXIT is smaller than LZ_SET_ENTER; only one can be wanted */
	if (want[ENTER] || want[EXIT])
		ck_assert_uint_eq(got[k++], want[ENTER] ? LZ_SET_ENTER : LZ_SET_EXIT);
	ck_assert_int_eq(k, n);
}

static void check_sets(const struct sample *s)
{
	for (uint32_t v = 0; v < s->g.n_nodes; v++) {
		bool pre[64] = {0}, post[64] = {0}, seen[2 * MAX_NODES] = {0};
		uint32_t *ids;
		int64_t n;

		for (unsigned id = 1; id < 64; id++)
			pre[id] = id != EXIT && leads_to(s, id, v);
		n = lz_graph_preset(&s->g, v, &ids);
		compare_set(ids, n, pre);
		free(ids);
		reach(s, v, code_behind_marker(s, v), seen, post);
		n = lz_graph_postset(&s->g, v, &ids);
		compare_set(ids, n, post);
		free(ids);
	}
}

static void check_samples(unsigned count, unsigned unmarkable_percent, bool landings)
{
	static struct pairs pairs;
	struct sample s;

	for (unsigned i = 0; i < count; i++) {
		seed = 1000 * (uint64_t)i + unmarkable_percent + landings;
		make_sample(&s, unmarkable_percent, landings);
		check_ids(&s);
		probe_all(&s, &pairs);
		check_paths(&s, &pairs);
		check_sets(&s);
	}
}

START_TEST(plain_graphs)
{
	check_samples(2000, 0, false);
}
END_TEST

START_TEST(graphs_with_unmarkable_edges)
{
	check_samples(2000, 30, false);
	check_samples(1000, 80, false);
	check_samples(500, 100, false);
}
END_TEST

START_TEST(graphs_with_landings)
{
	check_samples(2000, 30, true);
}
END_TEST

/* --- two whole paths between the same nodes give different sequences --- */

struct history {
	unsigned n, id[MAX_SEQ];
	uint32_t end;
	unsigned n_nodes;
	uint32_t nodes[MAX_SEQ];
};

static struct history histories[20000];
static unsigned n_histories;

static void all_paths(const struct sample *s, struct history h, uint32_t v)
{
	if (h.n_nodes == 7 || h.n >= MAX_SEQ - 2 || n_histories == 20000)
		return;
	h.nodes[h.n_nodes++] = v;
	h.end = v;
	/* the node's own code, before or behind its marker */
	if (s->node_marker[v] && code_behind_marker(s, v))
		h.id[h.n++] = s->node_marker[v];
	histories[n_histories++] = h;
	if (s->node_marker[v] && !code_behind_marker(s, v))
		h.id[h.n++] = s->node_marker[v];
	for (size_t i = 0; i < s->g.n_edges; i++) {
		struct history longer = h;

		if (s->edges[i].src != v)
			continue;
		if (s->edges[i].marker)
			longer.id[longer.n++] = s->edges[i].marker;
		all_paths(s, longer, s->edges[i].dst);
	}
}

static int by_sequence(const void *pa, const void *pb)
{
	const struct history *a = pa, *b = pb;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return memcmp(a->id, b->id, a->n * sizeof(*a->id));
}

START_TEST(different_paths_differ)
{
	for (unsigned i = 0; i < 500; i++) {
		struct sample s;

		seed = 77000 + i;
		make_sample(&s, i % 3 * 25, i % 2);
		for (uint32_t start = 0; start < s.g.n_nodes; start++) {
			n_histories = 0;
			all_paths(&s, (struct history){0}, start);
			qsort(histories, n_histories, sizeof(*histories), by_sequence);
			for (unsigned k = 1; k < n_histories; k++)
				if (by_sequence(&histories[k - 1], &histories[k]) == 0)
					ck_assert_msg(
					    0, "graph %u: two paths from %u to %u look the same", i,
					    start, histories[k].end);
		}
	}
}
END_TEST

START_TEST(heavy_edges_stay_free)
{
	/* a loop: the back edge is hot, the way round through node 3 is cold */
	struct lz_edge e[] = {{0, 2, 1, false, 0}, {2, 3, 1, false, 0},    {2, 4, 999, false, 0},
	                      {3, 4, 1, false, 0}, {4, 2, 1000, false, 0}, {4, 1, 1, false, 0}};
	uint32_t node_marker[5];
	struct lz_graph g = {5, 0, 1, 6, e, node_marker, NULL};

	ck_assert_int_eq(lz_graph_place_markers(&g), 2);
	ck_assert_uint_eq(e[4].marker, 0);
	ck_assert_uint_eq(e[2].marker, 1); /* it closes the cycle, and is the hottest one left */
}
END_TEST

START_TEST(parallel_edges_are_told_apart)
{
	struct lz_edge e[] = {{0, 2, 1, false, 0}, {2, 1, 1, false, 0}, {2, 1, 2, false, 0}};
	uint32_t node_marker[3], *nodes;
	struct lz_graph g = {3, 0, 1, 3, e, node_marker, NULL};

	ck_assert_int_eq(lz_graph_place_markers(&g), 1);
	ck_assert_uint_eq(e[1].marker, 1);
	ck_assert_int_eq(lz_graph_path(&g, LZ_SET_ENTER, LZ_SET_EXIT, &nodes), 3);
	free(nodes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("graph");
	TCase *t = tcase_create("random");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, plain_graphs);
	tcase_add_test(t, graphs_with_unmarkable_edges);
	tcase_add_test(t, graphs_with_landings);
	tcase_add_test(t, different_paths_differ);
	tcase_add_test(t, heavy_edges_stay_free);
	tcase_add_test(t, parallel_edges_are_told_apart);
	suite_add_tcase(s, t);
	return run_suite(s);
}
