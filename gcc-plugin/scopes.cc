/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What debug information says of the markers on edges: the line and the inlined call that they
 * belong to. */
#include "gcc.h"
#include "plugin.h"

/* ---- in GIMPLE: a marker is where its edge begins ---- */

static bool is_known(location_t where)
{
	return LOCATION_LOCUS(where) > BUILTINS_LOCATION && LOCATION_BLOCK(where);
}

static location_t end_of(basic_block bb)
{
	for (gimple_stmt_iterator gsi = gsi_last_bb(bb); !gsi_end_p(gsi); gsi_prev(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		if (!is_gimple_debug(stmt) && !gimple_clobber_p(stmt) &&
		    is_known(gimple_location(stmt)))
			return gimple_location(stmt);
	}
	return UNKNOWN_LOCATION;
}

static location_t beginning_of(edge e)
{
	basic_block bb = e->src;
	location_t where = end_of(bb);

	if (!is_known(where))
		where = e->goto_locus;
	while (!is_known(where) && single_pred_p(bb) && single_pred(bb)->index != ENTRY_BLOCK) {
		bb = single_pred(bb);
		where = end_of(bb);
	}
	return where;
}

/* A row of its own is no place to stop at if those are told by debug markers. */
static bool rows_do_no_harm()
{
	return optimize && (debug_info_level == DINFO_LEVEL_NONE || cfun->debug_nonbind_markers);
}

void lz_place_marker(gimple *marker, edge e)
{
	location_t where = beginning_of(e);

	if (!is_known(where))
		return;
	if (rows_do_no_harm())
		gimple_set_location(marker, where);
	else
		gimple_set_block(marker, LOCATION_BLOCK(where));
}

/* ---- in RTL, when the order of the code is known ---- */

typedef hash_set<tree> blocks;

static bool is_asm(rtx_insn *insn, const char *name)
{
	rtx body = NONJUMP_INSN_P(insn) ? extract_asm_operands(PATTERN(insn)) : NULL_RTX;

	return body && strstr(ASM_OPERANDS_TEMPLATE(body), name);
}

static bool is_edge_marker(rtx_insn *insn)
{
	return is_asm(insn, "lz.edge ") || is_asm(insn, "lz.wide");
}

static tree around(tree block)
{
	tree outer = BLOCK_SUPERCONTEXT(block);

	return outer && TREE_CODE(outer) == BLOCK ? outer : NULL_TREE;
}

static void add_with_outer(blocks *seen, tree block)
{
	while (block && !seen->add(block))
		block = around(block);
}

/* BLOCK, or what is around the outermost inlined call that it is in and that is not among SEEN. */
static tree within(blocks *seen, tree block)
{
	tree found = block;

	for (tree b = block; b; b = around(b))
		if (inlined_function_outer_scope_p(b) && !seen->contains(b))
			found = around(b);
	return found;
}

/* Where an inlined call's code begins debuggers put its breakpoint, so a marker is never that. */
static void leave_beginnings()
{
	blocks seen;

	for (rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn)) {
		tree scope =
		    active_insn_p(insn) && !JUMP_TABLE_DATA_P(insn) ? insn_scope(insn) : NULL_TREE;

		if (scope && is_edge_marker(insn))
			INSN_LOCATION(insn) =
			    set_block(LOCATION_LOCUS(INSN_LOCATION(insn)), within(&seen, scope));
		else
			add_with_outer(&seen, scope);
	}
}

/* The first label of the block that the marker begins, if only jumps lead there; else NULL. */
static rtx_insn *far_label(rtx_insn *marker)
{
	rtx_insn *label = NULL;

	for (rtx_insn *insn = PREV_INSN(marker); insn; insn = PREV_INSN(insn)) {
		if (BARRIER_P(insn))
			return label;
		if (LABEL_P(insn))
			label = insn;
		else if (!NOTE_P(insn) && !is_asm(insn, "lz.label "))
			return NULL;
	}
	return NULL;
}

/* At the first byte of a range of an inlined call GDB hides the call, and takes control there for
 * having left it. Where a marker would be that byte, a nop that never runs is put before it. */
static void pad_far_markers()
{
	for (rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn)) {
		rtx_insn *label = is_edge_marker(insn) ? far_label(insn) : NULL;

		if (!label)
			continue;
		rtx_insn *pad = emit_insn_before_noloc(gen_nop(), label, NULL);
		INSN_LOCATION(pad) =
		    set_block(UNKNOWN_LOCATION, LOCATION_BLOCK(INSN_LOCATION(insn)));
	}
}

namespace
{
const struct pass_data pass_data_scopes = {
    RTL_PASS, "lizard_scopes", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

class pass_scopes : public rtl_opt_pass
{
      public:
	pass_scopes() : rtl_opt_pass(pass_data_scopes, g)
	{
	}
	unsigned execute(function *) final override
	{
		leave_beginnings();
		pad_far_markers();
		return 0;
	}
};
} // namespace

opt_pass *lz_make_scopes_pass()
{
	return new pass_scopes;
}
