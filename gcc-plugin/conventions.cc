/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions are instrumented, and how each treats r15.
 *
 * A local function takes r15 as it finds it and leaves it valid. That needs
 * more than being static: nothing but instrumented code of this unit may enter
 * it. And a tail call may only join functions of one kind: a public function
 * gives its caller's r15 back before the jump, and after a jump from a local
 * function to a public one nobody loads r15 again. Dropping the tail call is
 * harmless except in a recursion, which then eats the stack; so functions that
 * tail-call each other in a circle are all public if one of them is. */
#include "gcc.h"
#include "plugin.h"

/* By uid: sanitizers add constructors once these sets are made, in the memory of
 * functions that are gone. */
typedef hash_set<int_hash<int, -1, -2>> function_set;
static function_set *left_out;
static function_set *local;

static bool body_names_r15(cgraph_node *node)
{
	function *fn = DECL_STRUCT_FUNCTION(node->decl);
	basic_block bb;

	if (!fn || !fn->cfg)
		return false;
	FOR_EACH_BB_FN(bb, fn)
	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		/* an asm that merely clobbers it is a foreign call */
		if (!is_a<gasm *>(stmt) && lz_stmt_names_r15(stmt))
			return true;
	}
	return false;
}

/* Before anything is inlined: a function that keeps a variable in r15 can't be
 * part of one that keeps the marker pointer there. */
void lz_pin_r15_users(void *gcc_data, void *user_data)
{
	cgraph_node *node;

	FOR_EACH_FUNCTION_WITH_GIMPLE_BODY(node)
	if (body_names_r15(node))
		DECL_UNINLINABLE(node->decl) = 1;
}

static bool must_be_left_out(cgraph_node *node)
{
	tree decl = node->decl;

	if (global_regs[R15_REG])
		return true;
	if (node->thunk || lookup_attribute("no_instrument_function", DECL_ATTRIBUTES(decl)) ||
	    lookup_attribute("naked", DECL_ATTRIBUTES(decl)) ||
	    lookup_attribute("ms_abi", TYPE_ATTRIBUTES(TREE_TYPE(decl))) ||
	    lookup_attribute("interrupt", TYPE_ATTRIBUTES(TREE_TYPE(decl))))
		return true;
	if (TREE_PUBLIC(decl) && lz_name_is_exempt(lz_asm_name(decl)))
		return true;
	return body_names_r15(node);
}

/* Resolvers run before thread-local storage exists, and so does all they call. */
static void leave_out_with_callees(cgraph_node *node)
{
	node = node->ultimate_alias_target();
	if (!node->definition || left_out->add(node->get_uid()))
		return;
	for (cgraph_edge *e = node->callees; e; e = e->next_callee)
		leave_out_with_callees(e->callee);
}

static void leave_out_resolvers()
{
	cgraph_node *node;

	FOR_EACH_FUNCTION(node)
	{
		if (node->ifunc_resolver || lookup_attribute("ifunc", DECL_ATTRIBUTES(node->decl)))
			leave_out_with_callees(node);
		/* target_clones: its resolver is made by GCC and named so */
		const char *dot = strrchr(lz_asm_name(node->decl), '.');
		if (dot && strcmp(dot, ".resolver") == 0)
			leave_out_with_callees(node);
	}
}

static cgraph_node *real_caller(cgraph_edge *e)
{
	return e->caller->inlined_to ? e->caller->inlined_to : e->caller;
}

static bool may_be_local(cgraph_node *node)
{
	tree decl = node->decl;

	if (!node->local || TREE_PUBLIC(decl) || node->force_output || node->address_taken ||
	    node->has_aliases_p() || node->alias || DECL_PRESERVE_P(decl) ||
	    DECL_STATIC_CONSTRUCTOR(decl) || DECL_STATIC_DESTRUCTOR(decl) ||
	    DECL_STATIC_CHAIN(decl))
		return false;
	for (cgraph_edge *e = node->callers; e; e = e->next_caller)
		if (e->caller->thunk || e->caller->alias ||
		    left_out->contains(real_caller(e)->get_uid()))
			return false;
	return true;
}

/* Nothing happens between STMT and the return of its function. */
static bool in_tail_position(gimple_stmt_iterator gsi)
{
	basic_block bb = gimple_bb(gsi_stmt(gsi));

	gsi_next_nondebug(&gsi);
	for (unsigned hops = 0; hops < 16; hops++) {
		for (; !gsi_end_p(gsi); gsi_next_nondebug(&gsi)) {
			gimple *stmt = gsi_stmt(gsi);

			if (gimple_code(stmt) == GIMPLE_RETURN)
				return true;
			if (gimple_code(stmt) != GIMPLE_LABEL &&
			    gimple_code(stmt) != GIMPLE_PREDICT &&
			    gimple_code(stmt) != GIMPLE_NOP && !gimple_clobber_p(stmt) &&
			    !gimple_assign_copy_p(stmt) && !gimple_assign_cast_p(stmt))
				return false;
		}
		edge e = find_fallthru_edge(bb->succs);
		if (!e)
			return false;
		bb = e->dest;
		if (bb->index == EXIT_BLOCK)
			return true;
		gsi = gsi_start_bb(bb);
	}
	return true;
}

typedef hash_map<cgraph_node *, vec<cgraph_node *> *> callee_map;

static void list_tail_calls(cgraph_node *node, vec<cgraph_node *> *out, cgraph_node *outside)
{
	function *fn = DECL_STRUCT_FUNCTION(node->decl);
	basic_block bb;

	if (!fn || !fn->cfg)
		return;
	FOR_EACH_BB_FN(bb, fn)
	for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gcall *call = dyn_cast<gcall *>(gsi_stmt(gsi));

		if (!call || gimple_call_internal_p(call) || gimple_call_noreturn_p(call) ||
		    !in_tail_position(gsi))
			continue;
		tree fndecl = gimple_call_fndecl(call);
		cgraph_node *callee = fndecl ? cgraph_node::get(fndecl) : NULL;
		if (callee)
			callee = callee->ultimate_alias_target();
		out->safe_push(callee && callee->definition ? callee : outside);
	}
}

/* Tarjan's strongly connected components, over functions. OUTSIDE is NULL. */
struct circles {
	callee_map callees;
	hash_map<cgraph_node *, int> index, low;
	hash_set<cgraph_node *> on_stack;
	auto_vec<cgraph_node *> stack;
	int next;
};

static cgraph_node *const outside_node = (cgraph_node *)(intptr_t)8;

static void close_circle(struct circles *c, cgraph_node *root)
{
	unsigned first = c->stack.length() - 1;
	bool all_local = true;

	while (c->stack[first] != root)
		first--;
	for (unsigned i = first; i < c->stack.length(); i++)
		if (c->stack[i] == outside_node || !local->contains(c->stack[i]->get_uid()))
			all_local = false;
	while (c->stack.length() > first) {
		cgraph_node *node = c->stack.pop();

		c->on_stack.remove(node);
		if (!all_local && node != outside_node)
			local->remove(node->get_uid());
	}
}

static void search_circles(struct circles *c, cgraph_node *node)
{
	vec<cgraph_node *> **list = c->callees.get(node);
	int index = c->next++, low = index;

	c->index.put(node, index);
	c->stack.safe_push(node);
	c->on_stack.add(node);
	for (unsigned i = 0; list && i < (*list)->length(); i++) {
		cgraph_node *callee = (**list)[i];
		int *seen = c->index.get(callee);

		if (!seen) {
			search_circles(c, callee);
			low = MIN(low, *c->low.get(callee));
		} else if (c->on_stack.contains(callee)) {
			low = MIN(low, *seen);
		}
	}
	c->low.put(node, low);
	if (low == index)
		close_circle(c, node);
}

static void settle_tail_circles()
{
	struct circles c;
	vec<cgraph_node *> *from_outside = new vec<cgraph_node *>();
	cgraph_node *node;

	*from_outside = vNULL;
	c.next = 0;
	FOR_EACH_DEFINED_FUNCTION(node)
	{
		vec<cgraph_node *> *list = new vec<cgraph_node *>();

		*list = vNULL;
		list_tail_calls(node, list, outside_node);
		c.callees.put(node, list);
		if (!local->contains(node->get_uid()))
			from_outside->safe_push(node);
	}
	c.callees.put(outside_node, from_outside);
	search_circles(&c, outside_node);
	FOR_EACH_DEFINED_FUNCTION(node)
	if (!c.index.get(node))
		search_circles(&c, node);
	for (callee_map::iterator i = c.callees.begin(); i != c.callees.end(); ++i) {
		(*i).second->release();
		delete (*i).second;
	}
}

/* Link-time optimization reads bodies when they are wanted. */
static void read_bodies()
{
	cgraph_node *node;

	FOR_EACH_FUNCTION_WITH_GIMPLE_BODY(node)
	if (!node->clone_of)
		node->get_untransformed_body();
}

void lz_decide_conventions(void *gcc_data, void *user_data)
{
	cgraph_node *node;

	if (in_lto_p)
		read_bodies();

	left_out = new function_set;
	local = new function_set;
	if (global_regs[R15_REG] && flag_generate_lto)
		error("lizard: r15 is a global register variable here: compile this file without "
		      "%<-flto%>");
	else if (global_regs[R15_REG])
		warning(0, "lizard: r15 is a global register variable here: this file is left out");
	FOR_EACH_DEFINED_FUNCTION(node)
	if (must_be_left_out(node))
		left_out->add(node->get_uid());
	leave_out_resolvers();
	FOR_EACH_DEFINED_FUNCTION(node)
	if (!left_out->contains(node->get_uid()) && may_be_local(node))
		local->add(node->get_uid());
	if (flag_optimize_sibling_calls)
		settle_tail_circles();
}

enum lz_convention lz_convention_of(tree fndecl)
{
	cgraph_node *node = cgraph_node::get(fndecl);

	if (!node || !left_out)
		return LZ_CONV_OUT;
	if (local->contains(node->ultimate_alias_target()->get_uid()))
		return LZ_CONV_LOCAL;
	return left_out->contains(node->get_uid()) ? LZ_CONV_OUT : LZ_CONV_PUBLIC;
}
