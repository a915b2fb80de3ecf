/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes and edges have come of the blocks and arcs of a source graph. */
#include "gcc.h"
#include "plugin.h"
#include "source.h"

struct link {
	const struct lz_blocks *b;
	auto_vec<unsigned> first_edge; /* by node, into b->edges */
	mutable auto_bitmap known;     /* nodes that are not new */
};

static unsigned node_of(const struct link *l, basic_block bb)
{
	const unsigned i = bb->index;

	if (i >= l->b->node_of.length() || l->b->of_node[l->b->node_of[i]] != bb)
		return LZ_CFG_NO_NODE;
	return l->b->node_of[i];
}

/* GCC may have made a block of its own for the labels of a loop's beginning. */
static void find_origins(struct link *l)
{
	hash_map<gimple *, struct origin *> by_stmt;

	for (auto o : lz_source->origins) {
		struct origin *origin = lz_source->origins.get(o.first);

		origin->here = node_of(l, o.first);
		if (origin->here != LZ_CFG_NO_NODE)
			bitmap_set_bit(l->known, origin->here);
		if (origin->first)
			by_stmt.put(origin->first, origin);
	}
	for (unsigned node = LZ_SOURCE_EXIT + 1; node < l->b->of_node.length(); node++)
		for (gimple_stmt_iterator gsi = gsi_start_bb(l->b->of_node[node]); !gsi_end_p(gsi);
		     gsi_next(&gsi))
			if (struct origin **o = by_stmt.get(gsi_stmt(gsi))) {
				(*o)->code = node;
				bitmap_set_bit(l->known, node);
			}
}

static unsigned node_now(const struct origin *o)
{
	return o->code != LZ_CFG_NO_NODE ? o->code : o->here;
}

/* The node that is run as often as BB. One that has become a part of its only predecessor is left to
 * the reader: a call before it may not have returned. */
static unsigned node_counted(basic_block bb)
{
	const struct origin *o = lz_source->origins.get(bb);

	if (o->here == LZ_CFG_NO_NODE && o->pred && lz_source->origins.get(o->pred)->succ == bb)
		return LZ_CFG_NO_NODE;
	return node_now(o);
}

/* To what control came that went to BB: a block without code may be gone. */
static const struct origin *arrival(basic_block bb)
{
	for (unsigned i = 0; bb && i < lz_source->blocks.length(); i++) {
		const struct origin *o = lz_source->origins.get(bb);

		if (node_now(o) != LZ_CFG_NO_NODE)
			return o;
		bb = o->succ;
	}
	return NULL;
}

/* The node that BB has become a part of. */
static unsigned departure(basic_block bb)
{
	for (unsigned i = 0; bb && i < lz_source->blocks.length(); i++) {
		const struct origin *o = lz_source->origins.get(bb);

		if (node_now(o) != LZ_CFG_NO_NODE)
			return node_now(o);
		bb = o->pred;
	}
	return LZ_CFG_NO_NODE;
}

/* BB's node and the new nodes behind it: a `switch` has become these. */
static void find_region(const struct link *l, basic_block bb, auto_vec<unsigned> *region)
{
	const unsigned start = departure(bb);
	auto_bitmap seen;

	if (start == LZ_CFG_NO_NODE)
		return;
	bitmap_set_bit(seen, start);
	region->safe_push(start);
	for (unsigned i = 0; i < region->length(); i++) {
		edge e;
		edge_iterator ei;

		FOR_EACH_EDGE(e, ei, l->b->of_node[(*region)[i]]->succs)
		{
			const unsigned to = l->b->node_of[e->dest->index];

			if (!bitmap_bit_p(l->known, to) && bitmap_set_bit(seen, to))
				region->safe_push(to);
		}
	}
}

/* Edge EDGE of the graph is one of those that arc ARC has become. */
struct ref {
	unsigned arc, edge;
};

static int by_arc(const void *a, const void *b)
{
	const struct ref *x = (const struct ref *)a, *y = (const struct ref *)b;

	if (x->arc != y->arc)
		return x->arc < y->arc ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* The arcs [from, to) of one block whose node NODE leads to, by the value of the condition. */
static void link_condition(const struct link *l, unsigned node, unsigned from, unsigned to,
                           auto_vec<ref> *refs)
{
	edge e;
	edge_iterator ei;
	unsigned i = l->first_edge[node];

	FOR_EACH_EDGE(e, ei, l->b->of_node[node]->succs)
	{
		for (unsigned a = from; a < to; a++)
			if (lz_source->arcs[a].from && e->flags & lz_source->arcs[a].sense)
				refs->safe_push({a, i});
		i++;
	}
}

/* ... by where they lead. Those that come to the same node cannot be told apart. */
static void link_arrivals(const struct link *l, const auto_vec<unsigned> &region, unsigned from,
                          unsigned to, auto_vec<ref> *refs)
{
	const unsigned several = 0xfffffffd;
	hash_map<int_hash<unsigned, 0xffffffff, 0xfffffffe>, unsigned> arc_to;

	for (unsigned a = from; a < to; a++) {
		const struct origin *to =
		    lz_source->arcs[a].from ? arrival(lz_source->arcs[a].to) : NULL;
		bool known;

		for (int i = 0; to && i < 2; i++) {
			const unsigned node = i ? to->code : to->here;

			if (node == LZ_CFG_NO_NODE)
				continue;
			unsigned &arc = arc_to.get_or_insert(node, &known);
			arc = known && arc != a ? several : a;
		}
	}
	for (unsigned node : region)
		for (unsigned i = 0; i < EDGE_COUNT(l->b->of_node[node]->succs); i++) {
			const unsigned at = l->first_edge[node] + i;
			const unsigned *arc = arc_to.get(l->b->edges[at].dst);

			if (arc && *arc != several)
				refs->safe_push({*arc, at});
		}
}

/* The arcs [from, to), which begin in the same block. */
static void link_arcs(const struct link *l, unsigned from, unsigned to, auto_vec<ref> *refs)
{
	basic_block bb = lz_source->arcs[from].from;
	gimple *last = lz_source->origins.get(bb)->last;
	auto_vec<unsigned> region;

	find_region(l, bb, &region);
	for (unsigned node : region)
		if (last && gimple_code(last) == GIMPLE_COND &&
		    last_nondebug_stmt(l->b->of_node[node]) == last)
			return link_condition(l, node, from, to, refs);
	link_arrivals(l, region, from, to, refs);
}

static void link_all(const struct link *l, auto_vec<ref> *refs)
{
	const unsigned n = lz_source->arcs.length();

	for (unsigned from = 0, to; from < n; from = to) {
		basic_block bb = lz_source->arcs[from].from;

		for (to = from + 1; to < n && bb; to++)
			if (lz_source->arcs[to].from && lz_source->arcs[to].from != bb)
				break;
		if (bb)
			link_arcs(l, from, to, refs);
	}
	refs->qsort(by_arc);
}

static void write_arcs(const auto_vec<ref> &refs, struct lz_function *f)
{
	unsigned r = 0;

	for (unsigned i = 0; i < lz_source->arcs.length(); i++) {
		const struct source_arc *a = &lz_source->arcs[i];
		const unsigned first = r;

		for (; r < refs.length() && refs[r].arc == i; r++)
			f->refs.safe_push(refs[r].edge);
		f->source_arcs.safe_push({a->src, a->dst, a->flags, first, r - first});
	}
}

/* Writes into F what was collected of the current function, with its counterparts in B. */
void lz_link_source(const struct lz_blocks *b, struct lz_function *f)
{
	struct link l;
	auto_vec<ref> refs;
	unsigned n = 0;

	if (!lz_source)
		return;
	l.b = b;
	find_origins(&l);
	for (basic_block bb : b->of_node) {
		l.first_edge.safe_push(n);
		n += EDGE_COUNT(bb->succs);
	}
	for (const struct source_block &s : lz_source->blocks)
		f->source_blocks.safe_push({s.bb ? node_counted(s.bb) : LZ_CFG_NO_NODE,
		                            f->lines.length() + s.first_line, s.n_lines, s.callee});
	for (const struct lz_line &line : lz_source->lines)
		f->lines.safe_push(line);
	link_all(&l, &refs);
	write_arcs(refs, f);
	delete lz_source;
	lz_source = NULL;
}
