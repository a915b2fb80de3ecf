/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The assembler text of markers, labels and __lizard_pos. It is written with
 * assembler macros, defined before the first function, so that GCC, which
 * guesses the size of an asm by its lines, takes each for one instruction. */
#include "gcc.h"
#include "plugin.h"

/* -fPIC without -fpie: the code may end up in a shared library, where only the
 * initial-exec model reaches __lizard_pos. */
static bool shared_tls()
{
	return flag_pic && !flag_pie;
}

static tree constraint(const char *text)
{
	return build_tree_list(NULL_TREE, build_string(strlen(text), text));
}

/* SCRATCH: operand 0 is a free register; IN: the next operand, or NULL. */
static gasm *make_asm(const char *text, bool scratch, tree in, const char *clobber)
{
	vec<tree, va_gc> *outputs = NULL, *inputs = NULL, *clobbers = NULL;
	gasm *stmt;
	tree out = NULL;

	if (scratch) {
		out = make_ssa_name(long_unsigned_type_node);
		vec_safe_push(outputs, build_tree_list(constraint("=&r"), out));
	}
	if (in)
		vec_safe_push(inputs, build_tree_list(constraint("r"), in));
	if (clobber)
		vec_safe_push(clobbers, constraint(clobber));
	/* under -masm=intel the macros are AT&T text in an Intel file */
	text = ACONCAT(("{|.att_syntax prefix\n\t}", text, "{|\n\t.intel_syntax noprefix}", NULL));
	stmt = gimple_build_asm_vec(ggc_strdup(text), inputs, outputs, clobbers, NULL);
	if (out)
		SSA_NAME_DEF_STMT(out) = stmt;
	gimple_asm_set_volatile(stmt, true);
	gimple_asm_set_inline(stmt, true);
	return stmt;
}

/* In Intel dialect registers print without their "%". */
#define REG(op) "{|%%}" op

gimple *lz_asm_label(unsigned node)
{
	char text[64];

	snprintf(text, sizeof(text), "lz.label %u", node);
	return make_asm(text, false, NULL, NULL);
}

static bool marker_scratch()
{
	return lz_options.check;
}

gimple *lz_asm_edge(unsigned id)
{
	const char *kind = id <= LZ_EDGE_MAX ? "edge" : id <= 0xffff ? "wide" : "wide32";
	char text[96];

	snprintf(text, sizeof(text), "lz.%s %u, %s", kind, id, marker_scratch() ? REG("%0") : "");
	return make_asm(text, marker_scratch(), NULL, NULL);
}

gimple *lz_asm_enter(enum lz_convention conv)
{
	const char *text = conv == LZ_CONV_PUBLIC ? "lz.load\n\tlz.enter " REG("%k0") ", " REG("%0")
	                                          : "lz.enter " REG("%k0") ", " REG("%0");

	return make_asm(text, true, NULL, conv == LZ_CONV_PUBLIC ? "r15" : NULL);
}

gimple *lz_asm_exit(enum lz_convention conv, unsigned code)
{
	bool scratch = marker_scratch() || (conv == LZ_CONV_PUBLIC && shared_tls());
	char text[128];

	snprintf(text, sizeof(text), "lz.leave %u, %s%s%s", code, marker_scratch() ? REG("%0") : "",
	         conv == LZ_CONV_PUBLIC ? "\n\tlz.store " : "",
	         conv == LZ_CONV_PUBLIC && shared_tls() ? REG("%0") : "");
	/* "memory": what the function still reads, it reads before its exit marker */
	return make_asm(text, scratch, NULL, "memory");
}

gimple *lz_asm_landing(tree frame)
{
	return make_asm("lz.landing " REG("%k0") ", " REG("%k1") ", " REG("%0"), true, frame, NULL);
}

gimple *lz_asm_store(void)
{
	return make_asm(shared_tls() ? "lz.store " REG("%0") : "lz.store", shared_tls(), NULL,
	                NULL);
}

gimple *lz_asm_load(void)
{
	return make_asm("lz.load", false, NULL, NULL);
}
