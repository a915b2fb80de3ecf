/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function as its source has it, for who counts lines and branches: before `switch` becomes
 * comparisons, with the lines of labels, and cut behind each call that might not return. That is
 * the graph in which gcov counts. Only without optimization do its blocks last until markers are
 * put. */
#include "gcc.h"
#include "plugin.h"

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

static struct source {
	auto_vec<source_block> blocks;
	auto_vec<source_arc> arcs;
	auto_vec<lz_line> lines;
	hash_set<int_hash<location_t, UNKNOWN_LOCATION, BUILTINS_LOCATION>> seen; /* of statements */
	hash_map<basic_block, origin> origins;
	auto_vec<jump> jumps;
	auto_vec<int> jump_after; /* by block index: the first one behind it, or -1 */
	hash_map<edge, int> jumping;
} *source;

enum { ENTRY = 0, EXIT = 1 };

/* --- statements --- */

/* A call, or an asm, from which control may not come back to what is behind it. */
static bool may_not_return(gimple *stmt)
{
	if (gasm *text = dyn_cast<gasm *>(stmt))
		return gimple_asm_volatile_p(text) || gimple_asm_input_p(text);
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
	source->blocks.safe_push({bb, source->lines.length(), 0, NULL});
	return source->blocks.length() - 1;
}

/* BLOCK is the last one. */
static void add_line(unsigned block, location_t where)
{
	source_block *b = &source->blocks[block];
	struct lz_line line;

	if (RESERVED_LOCATION_P(where) || !LOCATION_FILE(where))
		return;
	line.file = LOCATION_FILE(where);
	line.line = MAX(1, LOCATION_LINE(where));
	for (unsigned i = 0; i < b->n_lines; i++) {
		const struct lz_line *known = &source->lines[b->first_line + i];

		if (known->line == line.line && strcmp(known->file, line.file) == 0)
			return;
	}
	source->lines.safe_push(line);
	b->n_lines++;
}

/* A `goto`, `break` or `continue` that has become an edge, unless a statement is at the place. */
static void add_goto(unsigned block, location_t where)
{
	if (!RESERVED_LOCATION_P(where) && !source->seen.contains(where))
		add_line(block, where);
}

static void add_arc(unsigned src, unsigned dst, unsigned flags)
{
	source->arcs.safe_push({src, dst, -1, flags, NULL, NULL, 0});
}

/* The statements of BB. Returns the last block that they make. */
static unsigned collect_stmts(basic_block bb)
{
	gimple_stmt_iterator last = gsi_last_nondebug_bb(bb);
	unsigned at = new_block(bb);

	if (bb == ENTRY_BLOCK_PTR_FOR_FN(cfun)->next_bb)
		add_line(at, DECL_SOURCE_LOCATION(current_function_decl));
	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		add_line(at, gimple_location(stmt));
		if (!RESERVED_LOCATION_P(gimple_location(stmt)))
			source->seen.add(gimple_location(stmt));
		if (is_gimple_call(stmt))
			source->blocks[at].callee = callee_of(stmt);
		if (!may_not_return(stmt))
			continue;
		add_arc(at, EXIT, LZ_ARC_FAKE | LZ_ARC_CALL);
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
	return e->flags & (EDGE_ABNORMAL | EDGE_ABNORMAL_CALL) &&
	       e->src->index != ENTRY_BLOCK && e->dest->index != EXIT_BLOCK;
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
	while (i >= 0 && source->jumps[i].next >= 0)
		i = source->jumps[i].next;
	return i;
}

/* Is what stands before DEST joined to it by an edge? */
static bool is_joined(basic_block dest, int before)
{
	if (before >= 0)
		return source->jumps[before].e->dest == dest;
	edge e = find_edge(dest->prev_bb, dest);
	return e && !(e->flags & EDGE_COMPLEX) && !source->jumping.get(e);
}

/* Puts it where split_edge() would: the order decides which lines are known already. */
static void place_jump(edge e)
{
	const int number = source->jumps.length();
	const int before = last_jump(source->jump_after[e->dest->prev_bb->index]);

	source->jumps.safe_push({e, -1, 0});
	if (is_joined(e->dest, before)) {
		source->jumps[number].next = source->jump_after[e->src->index];
		source->jump_after[e->src->index] = number;
	} else if (before >= 0) {
		source->jumps[before].next = number;
	} else {
		source->jump_after[e->dest->prev_bb->index] = number;
	}
	source->jumping.put(e, number);
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
		source->jump_after.safe_push(-1);
	FOR_EACH_BB_FN(bb, cfun)
	place_jumps_of(bb);
}

/* Those behind BB. */
static void collect_jumps(basic_block bb)
{
	for (int i = source->jump_after[bb->index]; i >= 0; i = source->jumps[i].next) {
		const edge e = source->jumps[i].e;

		source->jumps[i].block = new_block(NULL);
		add_goto(source->jumps[i].block, e->goto_locus);
		source->arcs.safe_push({source->jumps[i].block, 0, -1, 0, NULL, e->dest, 0});
	}
}

static int jump_of(edge e)
{
	const int *number = source->jumping.get(e);

	return number ? *number : -1;
}

/* --- blocks and arcs --- */

static void add_edge(unsigned src, edge e)
{
	const unsigned flags = e->flags & EDGE_EH ? LZ_ARC_THROW : 0;
	const bool lone = single_succ_p(e->src);

	source->arcs.safe_push({src, 0, jump_of(e), flags, lone ? NULL : e->src, e->dest,
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
		add_arc(at, EXIT, LZ_ARC_FAKE);
}

static void add_origin(basic_block bb, unsigned number, gimple *first, gimple *last)
{
	source->origins.put(bb, {number, first, last, single_pred_p(bb) ? single_pred(bb) : NULL,
	                         single_succ_p(bb) ? single_succ(bb) : NULL, LZ_CFG_NO_NODE,
	                         LZ_CFG_NO_NODE});
}

static void collect_bb(basic_block bb)
{
	const unsigned first = source->blocks.length();
	gimple_stmt_iterator last = gsi_last_nondebug_bb(bb);
	gimple_stmt_iterator begin = gsi_start_nondebug_after_labels_bb(bb);

	add_origin(bb, first, gsi_end_p(begin) ? NULL : gsi_stmt(begin),
	           gsi_end_p(last) ? NULL : gsi_stmt(last));
	if (any_abnormal(bb->preds) &&
	    !find_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun), bb))
		add_arc(ENTRY, first, LZ_ARC_FAKE);
	collect_edges(bb, collect_stmts(bb));
}

static void collect()
{
	basic_block bb;

	delete source;
	source = new struct source;
	add_origin(ENTRY_BLOCK_PTR_FOR_FN(cfun), ENTRY, NULL, NULL);
	add_origin(EXIT_BLOCK_PTR_FOR_FN(cfun), EXIT, NULL, NULL);
	new_block(ENTRY_BLOCK_PTR_FOR_FN(cfun));
	new_block(EXIT_BLOCK_PTR_FOR_FN(cfun));
	source->arcs.safe_push(
	    {ENTRY, 0, -1, 0, NULL, single_succ(ENTRY_BLOCK_PTR_FOR_FN(cfun)), 0});
	place_jumps();
	collect_jumps(ENTRY_BLOCK_PTR_FOR_FN(cfun));
	FOR_EACH_BB_FN(bb, cfun)
	{
		collect_bb(bb);
		collect_jumps(bb);
	}
	for (struct source_arc &a : source->arcs)
		if (!a.dst)
			a.dst = a.jump >= 0 ? source->jumps[a.jump].block
			                    : source->origins.get(a.to)->number;
}

/* Nothing else can be put where a block was that is gone. */
void lz_keep_source(void *, void *)
{
	if (!source)
		return;
	for (const auto &o : source->origins) {
		gt_ggc_m_15basic_block_def(o.first);
		if (o.second.first)
			gt_ggc_mx_gimple(o.second.first);
		if (o.second.last)
			gt_ggc_mx_gimple(o.second.last);
	}
}

/* --- what has become of it --- */

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

	for (auto o : source->origins) {
		struct origin *origin = source->origins.get(o.first);

		origin->here = node_of(l, o.first);
		if (origin->here != LZ_CFG_NO_NODE)
			bitmap_set_bit(l->known, origin->here);
		if (origin->first)
			by_stmt.put(origin->first, origin);
	}
	for (unsigned node = EXIT + 1; node < l->b->of_node.length(); node++)
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

/* To what control came that went to BB: a block without code may be gone. */
static const struct origin *arrival(basic_block bb)
{
	for (unsigned i = 0; bb && i < source->blocks.length(); i++) {
		const struct origin *o = source->origins.get(bb);

		if (node_now(o) != LZ_CFG_NO_NODE)
			return o;
		bb = o->succ;
	}
	return NULL;
}

/* The node that BB has become a part of. */
static unsigned departure(basic_block bb)
{
	for (unsigned i = 0; bb && i < source->blocks.length(); i++) {
		const struct origin *o = source->origins.get(bb);

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
			if (source->arcs[a].from && e->flags & source->arcs[a].sense)
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
		    source->arcs[a].from ? arrival(source->arcs[a].to) : NULL;
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
	basic_block bb = source->arcs[from].from;
	gimple *last = source->origins.get(bb)->last;
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
	const unsigned n = source->arcs.length();

	for (unsigned from = 0, to; from < n; from = to) {
		basic_block bb = source->arcs[from].from;

		for (to = from + 1; to < n && bb; to++)
			if (source->arcs[to].from && source->arcs[to].from != bb)
				break;
		if (bb)
			link_arcs(l, from, to, refs);
	}
	refs->qsort(by_arc);
}

static void write_arcs(const auto_vec<ref> &refs, struct lz_function *f)
{
	unsigned r = 0;

	for (unsigned i = 0; i < source->arcs.length(); i++) {
		const struct source_arc *a = &source->arcs[i];
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

	if (!source)
		return;
	l.b = b;
	find_origins(&l);
	for (basic_block bb : b->of_node) {
		l.first_edge.safe_push(n);
		n += EDGE_COUNT(bb->succs);
	}
	for (const struct source_block &s : source->blocks)
		f->source_blocks.safe_push({s.bb ? node_now(source->origins.get(s.bb))
		                                  : LZ_CFG_NO_NODE,
		                            f->lines.length() + s.first_line, s.n_lines,
		                            s.callee});
	for (const struct lz_line &line : source->lines)
		f->lines.safe_push(line);
	link_all(&l, &refs);
	write_arcs(refs, f);
	delete source;
	source = NULL;
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
		delete source;
		source = NULL;
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
