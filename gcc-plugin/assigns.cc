/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which named variables each block may assign: see include/lizard/cfg_format.h.
 *
 * A variable whose address nobody has is stored to by statements that name it, and by nothing else.
 * Where the address of a local variable is taken, the compiler's points-to sets say whether it leaves
 * the function, and which stores may be to it. */
#include "gcc.h"
#include "gimple-walk.h"
#include "tree-ssa-alias.h"
#include "plugin.h"

/* Variables that code without a record may store to, by name. */
static hash_set<nofree_string_hash> *taken;
/* Static and global variables whose address is taken in this unit, or that have another name. */
static hash_set<tree> *pointed_at;

static bool has_name(tree decl)
{
	return DECL_NAME(decl) && !DECL_ARTIFICIAL(decl) && !DECL_IGNORED_P(decl);
}

static bool is_variable(tree decl)
{
	return decl && (VAR_P(decl) || TREE_CODE(decl) == PARM_DECL) && has_name(decl);
}

/* Does all code name it by this declaration? */
static bool is_plain(tree decl)
{
	if (!VAR_P(decl))
		return TREE_CODE(decl) == PARM_DECL;
	return !DECL_THREAD_LOCAL_P(decl) && !DECL_HARD_REGISTER(decl) &&
	       !DECL_HAS_VALUE_EXPR_P(decl);
}

/* ---- variables that are not known well enough ---- */

static void take(tree decl)
{
	if (!taken)
		taken = new hash_set<nofree_string_hash>;
	taken->add(xstrdup(lz_asm_name(decl)));
}

/* That the front end calls an indexed array addressable does not count. */
static bool is_pointed_at(varpool_node *node)
{
	struct ipa_ref *ref = NULL;

	/* a linker has names for where a section begins and ends */
	const bool in_section = DECL_SECTION_NAME(node->decl) && !node->implicit_section;

	if (!is_plain(node->decl) || node->alias || node->has_aliases_p() || in_section)
		return true;
	for (unsigned i = 0; node->iterate_referring(i, ref); i++)
		if (ref->use == IPA_REF_ADDR || ref->use == IPA_REF_ALIAS)
			return true;
	return false;
}

void lz_note_taken_variables(void *, void *)
{
	varpool_node *node;

	pointed_at = new hash_set<tree>;
	FOR_EACH_VARIABLE(node)
	if (has_name(node->decl) && is_pointed_at(node)) {
		pointed_at->add(node->decl);
		take(node->decl);
	}
}

/* STORE and ADDR are called for what the current function's statements store to, and take the address
 * of. */
static void for_each_statement(walk_stmt_load_store_addr_fn store,
                               walk_stmt_load_store_addr_fn addr, void *arg)
{
	basic_block bb;

	FOR_EACH_BB_FN(bb, cfun)
	{
		for (gphi_iterator p = gsi_start_phis(bb); !gsi_end_p(p); gsi_next(&p))
			walk_stmt_load_store_addr_ops(p.phi(), arg, NULL, store, addr);
		for (gimple_stmt_iterator g = gsi_start_bb(bb); !gsi_end_p(g); gsi_next(&g))
			if (!is_gimple_debug(gsi_stmt(g)) && !gimple_clobber_p(gsi_stmt(g)))
				walk_stmt_load_store_addr_ops(gsi_stmt(g), arg, NULL, store, addr);
	}
}

static bool take_stored(gimple *, tree base, tree, void *)
{
	tree decl = get_base_address(base);

	if (is_variable(decl) && is_global_var(decl))
		take(decl);
	return false;
}

void lz_note_foreign_stores()
{
	for_each_statement(take_stored, take_stored, NULL);
}

void lz_write_taken_variables(void *, void *)
{
	if (!taken || !asm_out_file || seen_error())
		return;
	/* not as strings to be merged: a linker would take one for the end of another */
	fprintf(asm_out_file, "\t.section " LZ_CFG_TAKEN_SECTION ",\"\",@progbits\n");
	for (const char *name : *taken) {
		fputs("\t.string \"", asm_out_file);
		for (; *name; name++)
			fprintf(asm_out_file, strchr("\"\\", *name) ? "\\%c" : "%c", *name);
		fputs("\"\n", asm_out_file);
	}
}

/* ---- the variables of a function ---- */

struct collector {
	hash_set<tree> addressed; /* local variables whose address is taken */
	auto_vec<struct lz_var_record *> *vars;
	hash_map<tree, struct lz_var_record *> of_decl;
	auto_vec<tree> pointed; /* local ones whose address is taken, but does not leave */
	unsigned node = 0;
};

/* Only statements that name it store to it. */
static bool is_named_only(struct collector *c, tree decl)
{
	if (!is_plain(decl))
		return false;
	return is_global_var(decl)
	           ? pointed_at && varpool_node::get(decl) && !pointed_at->contains(decl)
	           : !c->addressed.contains(decl);
}

static unsigned flags_of(tree decl)
{
	return (is_global_var(decl) ? 0 : LZ_VAR_LOCAL) |
	       (is_gimple_reg_type(TREE_TYPE(decl)) ? LZ_VAR_SCALAR : 0);
}

static struct lz_var_record *add_variable(struct collector *c, tree decl)
{
	bool known;
	struct lz_var_record *&v = c->of_decl.get_or_insert(decl, &known);

	if (!known) {
		v = new lz_var_record{decl, flags_of(decl)};
		c->vars->safe_push(v);
	}
	return v;
}

static void add_node(struct collector *c, tree decl, unsigned node)
{
	struct lz_var_record *v = add_variable(c, decl);

	/* in optimized code one stands for all */
	if (optimize ? v->nodes.is_empty() : !v->nodes.contains(node))
		v->nodes.safe_push(node);
}

/* With optimization the points-to sets are known. */
static bool leaves(tree decl)
{
	return !optimize || !cfun->gimple_df ||
	       pt_solution_includes(&cfun->gimple_df->escaped, decl);
}

/* All local ones, so that one that is not known well is not taken for another of its name. */
static void add_local(struct collector *c, tree decl)
{
	if (is_global_var(decl) || !has_name(decl))
		return;
	if (is_named_only(c, decl)) {
		if (TREE_CODE(decl) == PARM_DECL)
			add_variable(c, decl);
		return;
	}
	if (!is_plain(decl) || leaves(decl))
		add_variable(c, decl)->flags |= LZ_VAR_ESCAPES;
	else
		c->pointed.safe_push(decl);
}

static void add_locals(struct collector *c)
{
	unsigned i;
	tree decl;

	for (decl = DECL_ARGUMENTS(current_function_decl); decl; decl = DECL_CHAIN(decl))
		add_local(c, decl);
	FOR_EACH_LOCAL_DECL(cfun, i, decl)
	if (VAR_P(decl))
		add_local(c, decl);
	for (tree one : c->pointed)
		add_variable(c, one);
}

/* ---- stores ---- */

static bool stores_to(gimple *stmt, tree base, tree ref, void *arg)
{
	struct collector *c = (struct collector *)arg;
	tree decl = get_base_address(base);

	if (!is_variable(decl) || !is_named_only(c, decl))
		return false;
	add_node(c, decl, c->node);
	/* the function that is called may store to it before it returns */
	if (is_gimple_call(stmt) && AGGREGATE_TYPE_P(TREE_TYPE(ref))) {
		if (is_global_var(decl))
			take(decl);
		else
			add_variable(c, decl)->flags |= LZ_VAR_ESCAPES;
	}
	return false;
}

/* A variable that is in memory without optimization, and a register for GIMPLE. */
static void defines(struct collector *c, tree name)
{
	tree decl = name && TREE_CODE(name) == SSA_NAME ? SSA_NAME_VAR(name) : NULL_TREE;

	if (is_variable(decl) && is_named_only(c, decl))
		add_node(c, decl, c->node);
}

/* Where values of one variable meet nothing is done, without optimization. Others are copied on the way
 * to this block, behind the marker of that edge. */
static void meets(struct collector *c, gphi *phi)
{
	tree result = gimple_phi_result(phi), decl = SSA_NAME_VAR(result);

	if (!is_variable(decl) || !is_named_only(c, decl))
		return;
	for (unsigned i = 0; i < gimple_phi_num_args(phi); i++) {
		tree from = gimple_phi_arg_def(phi, i);

		if (TREE_CODE(from) != SSA_NAME || SSA_NAME_VAR(from) != decl)
			add_node(c, decl, c->node);
	}
}

/* Stores through pointers, and what calls do with the pointers that they are given. */
static void stores_through(struct collector *c, gimple *stmt)
{
	const unsigned flag = is_gimple_call(stmt) ? LZ_VAR_ESCAPES : 0;

	for (tree decl : c->pointed) {
		struct lz_var_record *v = add_variable(c, decl);

		if (v->flags & LZ_VAR_ESCAPES || (!flag && !v->nodes.is_empty() && optimize) ||
		    !stmt_may_clobber_ref_p(stmt, decl))
			continue;
		add_node(c, decl, c->node);
		v->flags |= flag;
	}
}

/* Optimization goes through arrays by pointers of its own. */
static bool points_to(gimple *, tree base, tree, void *arg)
{
	struct collector *c = (struct collector *)arg;
	tree decl = get_base_address(base);

	if (optimize && is_variable(decl) && is_global_var(decl) && is_named_only(c, decl))
		add_node(c, decl, c->node);
	return false;
}

static void look_at(struct collector *c, gimple *stmt)
{
	ssa_op_iter iter;
	tree def;

	if (is_gimple_debug(stmt) || gimple_clobber_p(stmt))
		return;
	FOR_EACH_SSA_TREE_OPERAND(def, stmt, iter, SSA_OP_DEF)
	defines(c, def);
	walk_stmt_load_store_addr_ops(stmt, c, NULL, stores_to, points_to);
	if (gimple_vdef(stmt))
		stores_through(c, stmt);
}

static void look_at_phi(struct collector *c, gphi *phi)
{
	walk_stmt_load_store_addr_ops(phi, c, NULL, NULL, points_to);
	meets(c, phi);
}

/* ---- whose address is taken ---- */

static bool take_address(gimple *, tree base, tree, void *arg)
{
	tree decl = get_base_address(base);

	if (is_variable(decl))
		((struct collector *)arg)->addressed.add(decl);
	return false;
}

void lz_collect_assigns(const struct lz_blocks *b, struct lz_function *f)
{
	struct collector c;

	c.vars = &f->vars;
	for_each_statement(NULL, take_address, &c);
	add_locals(&c);
	for (c.node = 0; c.node < b->of_node.length(); c.node++) {
		basic_block bb = b->of_node[c.node];

		if (bb->index == ENTRY_BLOCK || bb->index == EXIT_BLOCK)
			continue;
		for (gphi_iterator p = gsi_start_phis(bb); !gsi_end_p(p); gsi_next(&p))
			look_at_phi(&c, p.phi());
		for (gimple_stmt_iterator g = gsi_start_bb(bb); !gsi_end_p(g); gsi_next(&g))
			look_at(&c, gsi_stmt(g));
	}
}
