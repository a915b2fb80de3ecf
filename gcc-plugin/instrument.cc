/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GIMPLE pass: puts markers, labels and the care for r15 into one function.
 * It runs behind "optimized", just before expansion to RTL. */
#include "gcc.h"
#include "plugin.h"

static const struct pass_data pass_data_lizard = {
    GIMPLE_PASS, "lizard", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

struct job {
	enum lz_convention conv;
	struct lz_blocks blocks;
	struct lz_function fn;
};

static bool has_landings(const struct lz_blocks *b)
{
	for (unsigned char flags : b->node_flags)
		if (flags & LZ_NODE_LANDING)
			return true;
	return false;
}

/* --- preparing the CFG --- */

/* Each landing call ends its block, and no block has two landing sites. */
static void split_at_landing_calls()
{
	basic_block bb;

	FOR_EACH_BB_FN(bb, cfun)
	{
		bool at_start = lz_block_lands_at_start(bb);

		for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
			if (!lz_stmt_is_landing_call(gsi_stmt(gsi)))
				continue;
			if (at_start) {
				split_block_after_labels(bb);
				break;
			}
			if (!gsi_one_before_end_p(gsi))
				split_block(bb, gsi_stmt(gsi));
			break;
		}
	}
}

/* The value that CALL's function returns if BB goes on to the return in DEST. */
static tree returned_along(greturn *ret, edge e)
{
	tree val = gimple_return_retval(ret);

	if (val && TREE_CODE(val) == SSA_NAME) {
		gimple *def = SSA_NAME_DEF_STMT(val);

		if (gimple_code(def) == GIMPLE_PHI && gimple_bb(def) == e->dest)
			return PHI_ARG_DEF_FROM_EDGE(def, e);
	}
	return val;
}

static greturn *lone_return(basic_block bb)
{
	gimple_stmt_iterator gsi = gsi_start_nondebug_after_labels_bb(bb);

	return gsi_end_p(gsi) ? NULL : dyn_cast<greturn *>(gsi_stmt(gsi));
}

/* Gives a tail call a return of its own, as expansion will do: what follows it
 * is never run. False if that is not possible. */
static bool isolate_tail_call(basic_block bb, gimple_stmt_iterator gsi)
{
	gsi_next_nondebug(&gsi);
	if (!gsi_end_p(gsi))
		return gimple_code(gsi_stmt(gsi)) == GIMPLE_RETURN;
	if (!single_succ_p(bb) || single_succ_edge(bb)->flags & EDGE_COMPLEX)
		return false;
	edge e = single_succ_edge(bb);
	if (e->dest->index == EXIT_BLOCK)
		return true;
	greturn *ret = lone_return(e->dest);
	if (!ret)
		return false;
	greturn *own = gimple_build_return(returned_along(ret, e));
	gimple_set_location(own, gimple_location(ret));
	gsi = gsi_last_bb(bb);
	gsi_insert_after(&gsi, own, GSI_NEW_STMT);
	profile_probability p = e->probability;
	remove_edge(e);
	make_edge(bb, EXIT_BLOCK_PTR_FOR_FN(cfun), 0)->probability = p;
	return true;
}

static bool tail_call_keeps_r15(enum lz_convention conv, gcall *call)
{
	enum lz_call_kind kind = lz_stmt_kind(call);

	if (kind == LZ_CALL_NONE)
		return true;
	return (conv == LZ_CONV_LOCAL) == (kind == LZ_CALL_LOCAL);
}

/* True if blocks may have become unreachable. */
static void settle_tail_calls(enum lz_convention conv)
{
	basic_block bb;

	FOR_EACH_BB_FN(bb, cfun)
	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gcall *call = dyn_cast<gcall *>(gsi_stmt(gsi));

		if (call && gimple_call_tail_p(call) &&
		    (!tail_call_keeps_r15(conv, call) || stmt_ends_bb_p(call) ||
		     lz_stmt_is_landing_call(call) || !isolate_tail_call(bb, gsi)))
			gimple_call_set_tail(call, false);
	}
}

static void prepare(enum lz_convention conv)
{
	settle_tail_calls(conv);
	delete_unreachable_blocks();
	split_at_landing_calls();
	update_ssa(TODO_update_ssa_only_virtuals);
}

/* --- r15 around calls --- */

/* LANDING and, if ID is not 0, the node's marker, as a sequence. */
static gimple_seq landing_seq(unsigned id)
{
	gimple_seq seq = NULL;
	gcall *call = gimple_build_call(builtin_decl_explicit(BUILT_IN_DWARF_CFA), 0);
	tree name = make_ssa_name(ptr_type_node, call);

	gimple_call_set_lhs(call, name);
	gimple_seq_add_stmt(&seq, call);
	gimple_seq_add_stmt(&seq, lz_asm_landing(name));
	if (id)
		gimple_seq_add_stmt(&seq, lz_asm_edge(id));
	return seq;
}

/* Behind a call: in its block, or on the edges that leave it normally. */
static void insert_behind(gimple_stmt_iterator gsi, gimple_seq (*make)(void *), void *arg)
{
	gimple *stmt = gsi_stmt(gsi);
	edge e;
	edge_iterator ei;

	if (!stmt_ends_bb_p(stmt)) {
		gsi_insert_seq_after(&gsi, make(arg), GSI_SAME_STMT);
		return;
	}
	FOR_EACH_EDGE(e, ei, gimple_bb(stmt)->succs)
	if (!(e->flags & (EDGE_ABNORMAL | EDGE_EH)))
		gsi_insert_seq_on_edge(e, make(arg));
}

static gimple_seq make_load(void *)
{
	gimple_seq seq = NULL;

	gimple_seq_add_stmt(&seq, lz_asm_load());
	return seq;
}

static gimple_seq make_landing(void *arg)
{
	gimple_seq seq = NULL;

	gimple_seq_add_stmt(&seq, lz_asm_load());
	gimple_seq_add_seq(&seq, landing_seq(*(unsigned *)arg));
	return seq;
}

static bool is_tail_call(gimple *stmt)
{
	return is_gimple_call(stmt) && gimple_call_tail_p(as_a<gcall *>(stmt));
}

/* Between two foreign calls in a row r15 is not needed: one store before the
 * first, one load behind the last. */
static void guard_calls_in_block(struct job *job, unsigned node)
{
	basic_block bb = job->blocks.of_node[node];
	bool stored = false;
	auto_vec<gimple *> stmts;

	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
		if (lz_stmt_kind(gsi_stmt(gsi)) != LZ_CALL_NONE || is_tail_call(gsi_stmt(gsi)))
			stmts.safe_push(gsi_stmt(gsi));
	for (unsigned i = 0; i < stmts.length(); i++) {
		gimple *stmt = stmts[i];
		gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
		bool foreign = lz_stmt_kind(stmt) == LZ_CALL_FOREIGN;
		bool next_foreign = i + 1 < stmts.length() && !is_tail_call(stmts[i + 1]) &&
		                    lz_stmt_kind(stmts[i + 1]) == LZ_CALL_FOREIGN;

		if (!foreign || is_tail_call(stmt)) {
			stored = false;
			continue;
		}
		if (!stored)
			gsi_insert_before(&gsi, lz_asm_store(), GSI_SAME_STMT);
		stored = true;
		if (lz_stmt_is_landing_call(stmt))
			insert_behind(gsi, make_landing, &job->blocks.node_marker[node]);
		else if (!next_foreign && !(is_gimple_call(stmt) && gimple_call_noreturn_p(stmt)))
			insert_behind(gsi, make_load, NULL);
	}
}

/* --- markers --- */

/* What stands at the start of the block, label aside. */
static void insert_at_start(struct job *job, unsigned node)
{
	basic_block bb = job->blocks.of_node[node];
	unsigned flags = job->blocks.node_flags[node], id = job->blocks.node_marker[node];
	gimple_stmt_iterator gsi = gsi_after_labels(bb);
	gimple_seq seq = NULL;

	if (flags & LZ_NODE_MARK_LAST)
		return;
	while (!gsi_end_p(gsi) && (is_gimple_debug(gsi_stmt(gsi)) ||
	                           gimple_call_builtin_p(gsi_stmt(gsi), BUILT_IN_SETJMP_RECEIVER)))
		gsi_next(&gsi);
	if (flags & LZ_NODE_LANDING)
		seq = make_landing(&id);
	else if (id)
		gimple_seq_add_stmt(&seq, lz_asm_edge(id));
	if (seq && gsi_end_p(gsi)) {
		gsi = gsi_last_bb(bb);
		gsi_insert_seq_after(&gsi, seq, GSI_SAME_STMT);
	} else if (seq) {
		gsi_insert_seq_before(&gsi, seq, GSI_SAME_STMT);
	}
}

static gimple *tail_call_of(basic_block bb)
{
	for (gimple_stmt_iterator gsi = gsi_last_bb(bb); !gsi_end_p(gsi); gsi_prev(&gsi))
		if (is_tail_call(gsi_stmt(gsi)))
			return gsi_stmt(gsi);
	return NULL;
}

static void insert_edge_markers(struct job *job)
{
	for (unsigned i = 0; i < job->blocks.edges.length(); i++) {
		unsigned id = job->blocks.edges[i].marker;
		edge e = job->blocks.gcc_edges[i];
		gimple *tail = id ? tail_call_of(e->src) : NULL;

		if (tail) {
			gimple_stmt_iterator gsi = gsi_for_stmt(tail);
			gsi_insert_before(&gsi, lz_asm_edge(id), GSI_SAME_STMT);
		} else if (id) {
			gimple *marker = lz_asm_edge(id);
			lz_place_marker(marker, e);
			gsi_insert_on_edge(e, marker);
		}
	}
}

/* A landing site loads r15. Code of the function itself may go there, too, as from one cleanup to the
 * next: what r15 is then has to be stored, behind the edge's marker. */
static void store_before_landings(struct job *job)
{
	for (unsigned i = 0; i < job->blocks.edges.length(); i++) {
		edge e = job->blocks.gcc_edges[i];
		unsigned flags = job->blocks.node_flags[job->blocks.node_of[e->dest->index]];

		if (flags & LZ_NODE_LANDING && !(flags & LZ_NODE_MARK_LAST) &&
		    !(e->flags & (EDGE_ABNORMAL | EDGE_EH)))
			gsi_insert_on_edge(e, lz_asm_store());
	}
}

static void commit_edge_markers()
{
	int known = last_basic_block_for_fn(cfun);
	basic_block bb;

	gsi_commit_edge_inserts();
	FOR_EACH_BB_FN(bb, cfun)
	if (bb->index >= known)
		lz_keep_in_line(bb);
}

static void insert_exits(struct job *job)
{
	basic_block bb;

	FOR_EACH_BB_FN(bb, cfun)
	{
		gimple *tail = tail_call_of(bb);
		gimple *last = last_nondebug_stmt(bb);
		gimple_stmt_iterator gsi;

		if (tail) {
			gsi = gsi_for_stmt(tail);
			gsi_insert_before(&gsi, lz_asm_exit(job->conv, LZ_TAIL), GSI_SAME_STMT);
		} else if (last && gimple_code(last) == GIMPLE_RETURN) {
			gsi = gsi_for_stmt(last);
			gsi_insert_before(&gsi, lz_asm_exit(job->conv, LZ_EXIT), GSI_SAME_STMT);
		}
	}
}

static basic_block insert_entry(struct job *job)
{
	basic_block bb = split_edge(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun)));
	gimple_stmt_iterator gsi = gsi_start_bb(bb);
	gimple_seq seq = NULL;

	gimple_seq_add_stmt(&seq, lz_asm_enter(job->conv));
	if (has_landings(&job->blocks))
		gimple_seq_add_seq(&seq, landing_seq(0));
	gsi_insert_seq_before(&gsi, seq, GSI_SAME_STMT);
	return bb;
}

/* Each block's label comes before everything else in it. Blocks that were made
 * for a marker count to the block that the edge leaves. */
static void insert_labels(struct job *job, basic_block entry)
{
	unsigned known = job->blocks.node_of.length();
	basic_block bb;

	FOR_EACH_BB_FN(bb, cfun)
	{
		gimple_stmt_iterator gsi = gsi_after_labels(bb);
		unsigned node;

		if (lz_block_is_dispatcher(bb))
			continue;
		if (bb == entry)
			node = 0;
		else if ((unsigned)bb->index < known &&
		         job->blocks.of_node[job->blocks.node_of[bb->index]] == bb)
			node = job->blocks.node_of[bb->index];
		else
			node = job->blocks.node_of[single_pred(bb)->index];
		gsi_insert_before(&gsi, lz_asm_label(node), GSI_SAME_STMT);
	}
}

static bool place_markers(struct job *job)
{
	int64_t n = lz_graph_place_markers(&job->fn.graph);

	if (n < 0) {
		error("lizard: out of memory");
		return false;
	}
	job->fn.n_markers = n;
	if (optimize || optimize_size)
		job->fn.flags |= LZ_FN_OPTIMIZED;
	if (has_landings(&job->blocks))
		job->fn.flags |= LZ_FN_LANDING;
	if (job->conv == LZ_CONV_LOCAL)
		job->fn.flags |= LZ_FN_LOCAL;
	return true;
}

static void instrument(enum lz_convention conv)
{
	struct job job = {};
	basic_block entry;

	job.conv = conv;
	prepare(conv);
	lz_collect_blocks(&job.blocks, &job.fn);
	if (!place_markers(&job))
		return;
	lz_collect_assigns(&job.blocks, &job.fn);
	lz_prepare_record(&job.fn);
	/* loads are queued on edges before markers: the order of insertion is
	 * the order of execution */
	for (unsigned node = 2; node < job.blocks.of_node.length(); node++)
		guard_calls_in_block(&job, node);
	for (unsigned node = 2; node < job.blocks.of_node.length(); node++)
		insert_at_start(&job, node);
	insert_edge_markers(&job);
	store_before_landings(&job);
	commit_edge_markers();
	insert_exits(&job);
	entry = insert_entry(&job);
	insert_labels(&job, entry);
	update_ssa(TODO_update_ssa_only_virtuals);
	free_dominance_info(CDI_DOMINATORS);
	free_dominance_info(CDI_POST_DOMINATORS);
}

static bool any_stmt_names_r15()
{
	basic_block bb;

	FOR_EACH_BB_FN(bb, cfun)
	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
		if (lz_stmt_names_r15(gsi_stmt(gsi)))
			return true;
	return false;
}

namespace
{
class pass_lizard : public gimple_opt_pass
{
      public:
	pass_lizard(gcc::context *ctxt) : gimple_opt_pass(pass_data_lizard, ctxt)
	{
	}
	unsigned execute(function *) final override
	{
		enum lz_convention conv = lz_convention_of(current_function_decl);

		lz_save_r15 = conv == LZ_CONV_PUBLIC;
		if (conv != LZ_CONV_OUT) {
			instrument(conv);
			return 0;
		}
		lz_note_foreign_stores();
		if (!global_regs[R15_REG])
			lz_save_r15 = any_stmt_names_r15();
		return 0;
	}
};
} // namespace

opt_pass *lz_make_gimple_pass(gcc::context *ctxt)
{
	return new pass_lizard(ctxt);
}
