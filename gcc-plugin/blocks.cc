/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The current function as a graph: nodes, edges with weights, source lines. */
#include "gcc.h"
#include "plugin.h"

/* GCC's junction of abnormal edges: a block without machine code. */
bool lz_block_is_dispatcher(basic_block bb)
{
	gimple_stmt_iterator gsi = gsi_start_nondebug_after_labels_bb(bb);

	return !gsi_end_p(gsi) && gimple_call_internal_p(gsi_stmt(gsi), IFN_ABNORMAL_DISPATCHER);
}

/* Control arrives here from elsewhere: out of an exception, a non-local goto
 * or __builtin_longjmp. */
bool lz_block_lands_at_start(basic_block bb)
{
	edge e;
	edge_iterator ei;

	FOR_EACH_EDGE(e, ei, bb->preds)
	if (e->flags & EDGE_EH)
		return true;
	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		if (glabel *label = dyn_cast<glabel *>(stmt)) {
			if (DECL_NONLOCAL(gimple_label_label(label)))
				return true;
			continue;
		}
		if (is_gimple_debug(stmt))
			continue;
		return gimple_call_builtin_p(stmt, BUILT_IN_SETJMP_RECEIVER);
	}
	return false;
}

static bool block_lands_at_end(basic_block bb)
{
	gimple *last = last_nondebug_stmt(bb);

	/* split so that such a call is the last statement, or all behind it is
	 * labels and debug statements */
	for (gimple_stmt_iterator gsi = gsi_last_bb(bb); !gsi_end_p(gsi); gsi_prev(&gsi))
		if (lz_stmt_is_landing_call(gsi_stmt(gsi)))
			return true;
	return last && lz_stmt_is_landing_call(last);
}

static uint64_t block_weight(basic_block bb)
{
	unsigned depth = bb->loop_father ? MIN(bb_loop_depth(bb), 12) : 0;

	return (uint64_t)1 << (3 * depth + 8);
}

/* GCC's guess of two ways, if neither is rare: then nobody knows which is taken more often (see
 * layout.cc). */
static bool is_undecided(edge e, int *percent)
{
	return EDGE_COUNT(e->src->succs) == 2 && lz_edge_is_guess(e, percent) &&
	       *percent >= LZ_RARE_PERCENT && *percent <= 100 - LZ_RARE_PERCENT;
}

static bool leaves_loop(edge e)
{
	return e->src->loop_father && e->dest->loop_father &&
	       loop_exit_edge_p(e->src->loop_father, e);
}

/* How often E is taken, in percent of its block, where GCC's guess of it says little: loops go on;
 * else both ways are equal. */
static int believed_percent(edge e)
{
	if (leaves_loop(e))
		return LZ_RARE_PERCENT;
	return leaves_loop(EDGE_SUCC(e->src, EDGE_SUCC(e->src, 0) == e)) ? 100 - LZ_RARE_PERCENT
	                                                                 : 50;
}

/* Of COUNT, which GCC limits, so that there is room for all of them. */
static uint64_t hundredths(profile_count count, unsigned percent)
{
	uint64_t n = count.to_gcov_type();

	return MIN(n, UINT64_MAX / 128) * percent;
}

/* Profile or GCC's static estimate, in hundredths; at -O0 there is neither: loop depth. */
static uint64_t edge_weight(edge e)
{
	profile_count count = e->count();
	unsigned ways = 0;
	int percent;
	edge other;
	edge_iterator ei;

	if (profile_status_for_fn(cfun) != PROFILE_ABSENT && count.initialized_p()) {
		if (is_undecided(e, &percent) && e->src->count.initialized_p())
			return hundredths(e->src->count, believed_percent(e)) + percent;
		return hundredths(count, 100);
	}
	FOR_EACH_EDGE(other, ei, e->src->succs)
	ways += !(other->flags & (EDGE_ABNORMAL | EDGE_EH));
	if (e->src->index == ENTRY_BLOCK || e->dest->index == EXIT_BLOCK)
		return 1 << 8;
	return MIN(block_weight(e->src), block_weight(e->dest)) / MAX(ways, 1u);
}

static void add_node(struct lz_blocks *b, basic_block bb, unsigned flags)
{
	if ((unsigned)bb->index >= b->node_of.length())
		b->node_of.safe_grow_cleared(bb->index + 1, true);
	b->node_of[bb->index] = b->of_node.length();
	b->of_node.safe_push(bb);
	b->node_flags.safe_push(flags);
	b->node_marker.safe_push(0);
}

static void collect_nodes(struct lz_blocks *b)
{
	basic_block bb;

	add_node(b, ENTRY_BLOCK_PTR_FOR_FN(cfun), LZ_NODE_UNMARKABLE);
	add_node(b, EXIT_BLOCK_PTR_FOR_FN(cfun), LZ_NODE_UNMARKABLE);
	FOR_EACH_BB_FN(bb, cfun)
	{
		unsigned flags = 0;

		if (lz_block_is_dispatcher(bb))
			flags = LZ_NODE_UNMARKABLE;
		else if (block_lands_at_end(bb))
			flags = LZ_NODE_LANDING | LZ_NODE_MARK_LAST;
		else if (lz_block_lands_at_start(bb))
			flags = LZ_NODE_LANDING;
		add_node(b, bb, flags);
	}
}

static void collect_edges(struct lz_blocks *b)
{
	for (unsigned node = 0; node < b->of_node.length(); node++) {
		edge e;
		edge_iterator ei;

		FOR_EACH_EDGE(e, ei, b->of_node[node]->succs)
		{
			struct lz_edge le = {};

			le.src = node;
			le.dst = b->node_of[e->dest->index];
			le.unmarkable = (e->flags & (EDGE_ABNORMAL | EDGE_EH)) != 0;
			le.weight = le.unmarkable ? 0 : edge_weight(e);
			b->edges.safe_push(le);
			b->gcc_edges.safe_push(e);
		}
	}
}

static void add_line(struct lz_function *f, unsigned first, location_t where)
{
	expanded_location at;

	if (LOCATION_LOCUS(where) <= BUILTINS_LOCATION)
		return;
	at = expand_location(where);
	if (!at.file || at.line <= 0)
		return;
	for (unsigned i = first; i < f->lines.length(); i++)
		if (f->lines[i].line == (unsigned)at.line && strcmp(f->lines[i].file, at.file) == 0)
			return;
	f->lines.safe_push({at.file, (unsigned)at.line});
}

static void collect_lines(struct lz_function *f, basic_block bb)
{
	unsigned first = f->lines.length();

	if (bb->index != ENTRY_BLOCK && bb->index != EXIT_BLOCK) {
		for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
			gimple *stmt = gsi_stmt(gsi);

			if (!gimple_clobber_p(stmt) &&
			    (!is_gimple_debug(stmt) || gimple_debug_begin_stmt_p(stmt)))
				add_line(f, first, gimple_location(stmt));
		}
		/* a `goto`, `break` or `continue` that has become an edge */
		if (single_succ_p(bb))
			add_line(f, first, single_succ_edge(bb)->goto_locus);
	}
	f->first_line.safe_push(first);
	f->n_lines.safe_push(f->lines.length() - first);
}

void lz_collect_blocks(struct lz_blocks *b, struct lz_function *f)
{
	if (!current_loops)
		loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
	collect_nodes(b);
	collect_edges(b);
	for (basic_block bb : b->of_node)
		collect_lines(f, bb);
	lz_link_source(b, f);
	f->graph.n_nodes = b->of_node.length();
	f->graph.entry = 0;
	f->graph.exit = 1;
	f->graph.n_edges = b->edges.length();
	f->graph.edges = b->edges.address();
	f->graph.node_marker = b->node_marker.address();
	f->graph.node_flags = b->node_flags.address();
}
