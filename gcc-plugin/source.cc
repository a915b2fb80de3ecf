/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function as its source has it, for who counts lines and branches: before `switch` becomes
 * comparisons, with the lines of labels, and cut behind each call that might not return. That is
 * the graph in which gcov counts. Only without optimization do its blocks last until markers are
 * put. */
#include "gcc.h"
#include "plugin.h"
#include "source.h"

struct source *lz_source;

/* --- statements --- */

/* A call, or an asm, from which control may not come back to what is behind it. */
static bool may_not_return(gimple *stmt)
{
	if (gasm *text = dyn_cast<gasm *>(stmt))
		return gimple_asm_volatile_p(text);
	if (!is_gimple_call(stmt))
		return false;

	const int flags = gimple_call_flags(stmt);
	tree fn = gimple_call_fndecl(stmt);

	if (fn && fndecl_built_in_p(fn) && flags & ECF_NOTHROW && !(flags & ECF_RETURNS_TWICE) &&
	    !fndecl_built_in_p(fn, BUILT_IN_FORK))
		return false;
	if (flags & (ECF_PURE | ECF_CONST) && !(flags & ECF_LOOPING_CONST_OR_PURE))
		return false;
	return !(flags & ECF_NORETURN) || EDGE_COUNT(gimple_bb(stmt)->succs) > 0;
}

static const char *callee_of(gimple *stmt)
{
	tree fn = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;

	return fn ? lz_asm_name(fn) : "";
}

static bool same_line(location_t a, location_t b)
{
	return LOCATION_LINE(a) == LOCATION_LINE(b) && LOCATION_FILE(a) == LOCATION_FILE(b);
}

/* Of the last statement of BB that has one. */
static location_t last_location(basic_block bb)
{
	for (gimple_stmt_iterator gsi = gsi_last_nondebug_bb(bb); !gsi_end_p(gsi);
	     gsi_prev_nondebug(&gsi))
		if (!RESERVED_LOCATION_P(gimple_location(gsi_stmt(gsi))))
			return gimple_location(gsi_stmt(gsi));
	return UNKNOWN_LOCATION;
}

/* --- before lowering --- */

static unsigned new_block(basic_block bb)
{
	lz_source->blocks.safe_push({bb, lz_source->lines.length(), 0, NULL});
	return lz_source->blocks.length() - 1;
}

/* BLOCK is the last one. */
static void add_line(unsigned block, location_t where)
{
	source_block *b = &lz_source->blocks[block];
	struct lz_line line;

	if (RESERVED_LOCATION_P(where) || !LOCATION_FILE(where))
		return;
	line.file = LOCATION_FILE(where);
	line.line = MAX(1, LOCATION_LINE(where));
	for (unsigned i = 0; i < b->n_lines; i++) {
		const struct lz_line *known = &lz_source->lines[b->first_line + i];

		if (known->line == line.line && strcmp(known->file, line.file) == 0)
			return;
	}
	lz_source->lines.safe_push(line);
	b->n_lines++;
}

static void add_place(unsigned block, location_t where)
{
	if (RESERVED_LOCATION_P(where))
		return;
	lz_source->seen.add(lz_gcov_place(where));
	add_line(block, where);
}

/* A `goto`, `break` or `continue` that has become an edge, unless a statement is at the place. */
static void add_goto(unsigned block, location_t where)
{
	if (!RESERVED_LOCATION_P(where) && !lz_source->seen.contains(lz_gcov_place(where)))
		add_line(block, where);
}

static void add_arc(unsigned src, unsigned dst, unsigned flags)
{
	lz_source->arcs.safe_push({src, dst, -1, flags, NULL, NULL, 0});
}

/* The statements of BB. Returns the last block that they make. */
static unsigned collect_stmts(basic_block bb)
{
	gimple_stmt_iterator last = gsi_last_nondebug_bb(bb);
	unsigned at = new_block(bb);

	if (bb == ENTRY_BLOCK_PTR_FOR_FN(cfun)->next_bb)
		add_place(at, DECL_SOURCE_LOCATION(current_function_decl));
	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		add_place(at, gimple_location(stmt));
		if (is_gimple_call(stmt))
			lz_source->blocks[at].callee = callee_of(stmt);
		if (!may_not_return(stmt))
			continue;
		add_arc(at, LZ_SOURCE_EXIT, LZ_ARC_FAKE | LZ_ARC_CALL);
		if (stmt != gsi_stmt(last)) {
			unsigned next = new_block(NULL);

			add_arc(at, next, 0);
			at = next;
		}
	}
	return at;
}

static bool is_abnormal(edge e)
{
	return e->flags & (EDGE_ABNORMAL | EDGE_ABNORMAL_CALL) && e->src->index != ENTRY_BLOCK &&
	       e->dest->index != EXIT_BLOCK;
}

static bool any_abnormal(vec<edge, va_gc> *edges)
{
	edge e;
	edge_iterator ei;

	FOR_EACH_EDGE(e, ei, edges)
	if (is_abnormal(e))
		return true;
	return false;
}

/* --- jumps that are edges --- */

static bool ends_in_call(basic_block bb)
{
	gimple_stmt_iterator gsi = gsi_last_nondebug_bb(bb);

	return !gsi_end_p(gsi) && may_not_return(gsi_stmt(gsi));
}

/* A call that may not return is a second way out. */
static bool has_one_way(basic_block bb)
{
	return single_succ_p(bb) && !ends_in_call(bb);
}

static int last_jump(int i)
{
	while (i >= 0 && lz_source->jumps[i].next >= 0)
		i = lz_source->jumps[i].next;
	return i;
}

/* Is what stands before DEST joined to it by an edge? */
static bool is_joined(basic_block dest, int before)
{
	if (before >= 0)
		return lz_source->jumps[before].e->dest == dest;
	edge e = find_edge(dest->prev_bb, dest);
	return e && !(e->flags & EDGE_COMPLEX) && !lz_source->jumping.get(e);
}

/* Puts it where split_edge() would: the order decides which lines are known already. */
static void place_jump(edge e)
{
	const int number = lz_source->jumps.length();
	const int before = last_jump(lz_source->jump_after[e->dest->prev_bb->index]);

	lz_source->jumps.safe_push({e, -1, 0});
	if (is_joined(e->dest, before)) {
		lz_source->jumps[number].next = lz_source->jump_after[e->src->index];
		lz_source->jump_after[e->src->index] = number;
	} else if (before >= 0) {
		lz_source->jumps[before].next = number;
	} else {
		lz_source->jump_after[e->dest->prev_bb->index] = number;
	}
	lz_source->jumping.put(e, number);
}

/* A jump behind a condition has a block of its own, unless it is on the condition's line. */
static void place_jumps_of(basic_block bb)
{
	const location_t last = last_location(bb);
	edge e;
	edge_iterator ei;

	if (has_one_way(bb) || last == UNKNOWN_LOCATION)
		return;
	FOR_EACH_EDGE(e, ei, bb->succs)
	if (!is_abnormal(e) && !RESERVED_LOCATION_P(e->goto_locus) &&
	    !same_line(last, e->goto_locus))
		place_jump(e);
}

static void place_jumps()
{
	basic_block bb;

	for (int i = 0; i < last_basic_block_for_fn(cfun); i++)
		lz_source->jump_after.safe_push(-1);
	FOR_EACH_BB_FN(bb, cfun)
	place_jumps_of(bb);
}

/* Those behind BB. */
static void collect_jumps(basic_block bb)
{
	for (int i = lz_source->jump_after[bb->index]; i >= 0; i = lz_source->jumps[i].next) {
		const edge e = lz_source->jumps[i].e;

		lz_source->jumps[i].block = new_block(NULL);
		add_goto(lz_source->jumps[i].block, e->goto_locus);
		lz_source->arcs.safe_push({lz_source->jumps[i].block, 0, -1, 0, NULL, e->dest, 0});
	}
}

static int jump_of(edge e)
{
	const int *number = lz_source->jumping.get(e);

	return number ? *number : -1;
}

/* --- blocks and arcs --- */

static void add_edge(unsigned src, edge e)
{
	const unsigned flags = e->flags & EDGE_EH ? LZ_ARC_THROW : 0;
	const bool lone = single_succ_p(e->src);

	lz_source->arcs.safe_push({src, 0, jump_of(e), flags, lone ? NULL : e->src, e->dest,
	                           e->flags & (EDGE_TRUE_VALUE | EDGE_FALSE_VALUE)});
}

static bool has_exit(basic_block bb)
{
	return find_edge(bb, EXIT_BLOCK_PTR_FOR_FN(cfun)) != NULL;
}

/* The ways out of BB, whose last block is AT. */
static void collect_edges(basic_block bb, unsigned at)
{
	edge e;
	edge_iterator ei;

	if (has_one_way(bb))
		add_goto(at, single_succ_edge(bb)->goto_locus);
	FOR_EACH_EDGE(e, ei, bb->succs)
	if (!is_abnormal(e))
		add_edge(at, e);
	if (!ends_in_call(bb) &&
	    (EDGE_COUNT(bb->succs) == 0 || (any_abnormal(bb->succs) && !has_exit(bb))))
		add_arc(at, LZ_SOURCE_EXIT, LZ_ARC_FAKE);
}

static void add_origin(basic_block bb, unsigned number, gimple *first, gimple *last)
{
	lz_source->origins.put(bb, {number, first, last, single_pred_p(bb) ? single_pred(bb) : NULL,
	                            single_succ_p(bb) ? single_succ(bb) : NULL, LZ_CFG_NO_NODE,
	                            LZ_CFG_NO_NODE});
}

static void collect_bb(basic_block bb)
{
	const unsigned first = lz_source->blocks.length();
	gimple_stmt_iterator last = gsi_last_nondebug_bb(bb);
	gimple_stmt_iterator begin = gsi_start_nondebug_after_labels_bb(bb);

	add_origin(bb, first, gsi_end_p(begin) ? NULL : gsi_stmt(begin),
	           gsi_end_p(last) ? NULL : gsi_stmt(last));
	if (any_abnormal(bb->preds) && !find_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun), bb))
		add_arc(LZ_SOURCE_ENTRY, first, LZ_ARC_FAKE);
	collect_edges(bb, collect_stmts(bb));
}

static void collect()
{
	basic_block bb;

	delete lz_source;
	lz_source = new struct source;
	add_origin(ENTRY_BLOCK_PTR_FOR_FN(cfun), LZ_SOURCE_ENTRY, NULL, NULL);
	add_origin(EXIT_BLOCK_PTR_FOR_FN(cfun), LZ_SOURCE_EXIT, NULL, NULL);
	new_block(ENTRY_BLOCK_PTR_FOR_FN(cfun));
	new_block(EXIT_BLOCK_PTR_FOR_FN(cfun));
	lz_source->arcs.safe_push(
	    {LZ_SOURCE_ENTRY, 0, -1, 0, NULL, single_succ(ENTRY_BLOCK_PTR_FOR_FN(cfun)), 0});
	place_jumps();
	collect_jumps(ENTRY_BLOCK_PTR_FOR_FN(cfun));
	FOR_EACH_BB_FN(bb, cfun)
	{
		collect_bb(bb);
		collect_jumps(bb);
	}
	for (struct source_arc &a : lz_source->arcs)
		if (!a.dst)
			a.dst = a.jump >= 0 ? lz_source->jumps[a.jump].block
			                    : lz_source->origins.get(a.to)->number;
}

/* Nothing else can be put where a block was that is gone. */
void lz_keep_source(void *, void *)
{
	if (!lz_source)
		return;
	for (const auto &o : lz_source->origins) {
		gt_ggc_mx_basic_block_def(o.first);
		if (o.second.first)
			gt_ggc_mx_gimple(o.second.first);
		if (o.second.last)
			gt_ggc_mx_gimple(o.second.last);
	}
}

namespace
{
const struct pass_data pass_data_source = {
    GIMPLE_PASS, "lizard_source", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0,
};

class pass_source : public gimple_opt_pass
{
      public:
	pass_source(gcc::context *ctxt) : gimple_opt_pass(pass_data_source, ctxt)
	{
	}
	bool gate(function *) final override
	{
		delete lz_source;
		lz_source = NULL;
		return !optimize && lz_convention_of(current_function_decl) != LZ_CONV_OUT;
	}
	unsigned execute(function *) final override
	{
		collect();
		return 0;
	}
};
} // namespace

opt_pass *lz_make_source_pass(gcc::context *ctxt)
{
	return new pass_source(ctxt);
}
