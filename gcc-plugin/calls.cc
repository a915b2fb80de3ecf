/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a statement means for the marker pointer in r15. */
#include "gcc.h"
#include "plugin.h"

const char *lz_asm_name(tree decl)
{
	const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(decl));

	return targetm.strip_name_encoding(name);
}

/* Builtins that GCC always expands in place. */
static const enum built_in_function inline_builtins[] = {BUILT_IN_ALLOCA,
                                                         BUILT_IN_ALLOCA_WITH_ALIGN,
                                                         BUILT_IN_ALLOCA_WITH_ALIGN_AND_MAX,
                                                         BUILT_IN_STACK_SAVE,
                                                         BUILT_IN_STACK_RESTORE,
                                                         BUILT_IN_VA_START,
                                                         BUILT_IN_VA_END,
                                                         BUILT_IN_VA_COPY,
                                                         BUILT_IN_NEXT_ARG,
                                                         BUILT_IN_FRAME_ADDRESS,
                                                         BUILT_IN_RETURN_ADDRESS,
                                                         BUILT_IN_EXTRACT_RETURN_ADDR,
                                                         BUILT_IN_EXPECT,
                                                         BUILT_IN_EXPECT_WITH_PROBABILITY,
                                                         BUILT_IN_ASSUME_ALIGNED,
                                                         BUILT_IN_UNREACHABLE,
                                                         BUILT_IN_TRAP,
                                                         BUILT_IN_PREFETCH,
                                                         BUILT_IN_OBJECT_SIZE,
                                                         BUILT_IN_CONSTANT_P,
                                                         BUILT_IN_CLZ,
                                                         BUILT_IN_CLZL,
                                                         BUILT_IN_CLZLL,
                                                         BUILT_IN_CTZ,
                                                         BUILT_IN_CTZL,
                                                         BUILT_IN_CTZLL,
                                                         BUILT_IN_CLRSB,
                                                         BUILT_IN_CLRSBL,
                                                         BUILT_IN_CLRSBLL,
                                                         BUILT_IN_POPCOUNT,
                                                         BUILT_IN_POPCOUNTL,
                                                         BUILT_IN_POPCOUNTLL,
                                                         BUILT_IN_PARITY,
                                                         BUILT_IN_PARITYL,
                                                         BUILT_IN_PARITYLL,
                                                         BUILT_IN_BSWAP16,
                                                         BUILT_IN_BSWAP32,
                                                         BUILT_IN_BSWAP64,
                                                         BUILT_IN_BSWAP128,
                                                         BUILT_IN_ISNAN,
                                                         BUILT_IN_ISINF,
                                                         BUILT_IN_ISINF_SIGN,
                                                         BUILT_IN_ISFINITE,
                                                         BUILT_IN_ISNORMAL,
                                                         BUILT_IN_ISUNORDERED,
                                                         BUILT_IN_SIGNBIT,
                                                         BUILT_IN_SIGNBITF,
                                                         BUILT_IN_SIGNBITL,
                                                         BUILT_IN_INIT_TRAMPOLINE,
                                                         BUILT_IN_INIT_HEAP_TRAMPOLINE,
                                                         BUILT_IN_ADJUST_TRAMPOLINE,
                                                         BUILT_IN_INIT_DESCRIPTOR,
                                                         BUILT_IN_ADJUST_DESCRIPTOR,
                                                         BUILT_IN_SETJMP_SETUP,
                                                         BUILT_IN_SETJMP_RECEIVER,
                                                         BUILT_IN_EH_POINTER,
                                                         BUILT_IN_EH_FILTER,
                                                         BUILT_IN_EH_COPY_VALUES,
                                                         BUILT_IN_DWARF_CFA,
                                                         BUILT_IN_DWARF_SP_COLUMN,
                                                         BUILT_IN_UNWIND_INIT,
                                                         BUILT_IN_THREAD_POINTER,
                                                         BUILT_IN_SYNC_SYNCHRONIZE,
                                                         BUILT_IN_ATOMIC_THREAD_FENCE,
                                                         BUILT_IN_ATOMIC_SIGNAL_FENCE,
                                                         BUILT_IN_CLEAR_PADDING};

static bool inline_builtin(tree fndecl)
{
	enum built_in_function code;

	/* the target's own are instructions */
	if (fndecl_built_in_p(fndecl, BUILT_IN_MD))
		return true;
	if (!fndecl_built_in_p(fndecl, BUILT_IN_NORMAL))
		return false;
	code = DECL_FUNCTION_CODE(fndecl);
	for (enum built_in_function c : inline_builtins)
		if (c == code)
			return true;
	/* most sizes are lock-free; 16 bytes go to libatomic, which is a leaf too */
	return code >= BUILT_IN_SYNC_FETCH_AND_ADD_N && code <= BUILT_IN_ATOMIC_FETCH_OR_16;
}

static bool program_defines(tree fndecl)
{
	cgraph_node *node = cgraph_node::get(fndecl);

	return !DECL_EXTERNAL(fndecl) || (node && node->definition);
}

static enum lz_call_kind call_kind(gcall *call)
{
	tree fndecl = gimple_call_fndecl(call);

	if (gimple_call_internal_p(call))
		return LZ_CALL_NONE;
	if (!fndecl)
		return LZ_CALL_FOREIGN;
	if (inline_builtin(fndecl))
		return LZ_CALL_NONE;
	if (lz_convention_of(fndecl) == LZ_CONV_LOCAL)
		return LZ_CALL_LOCAL;
	if (TREE_PUBLIC(fndecl) && !program_defines(fndecl) &&
	    lz_name_is_exempt(lz_asm_name(fndecl)))
		return LZ_CALL_NONE;
	return LZ_CALL_FOREIGN;
}

/* A word of TEXT that looks like an instruction which leaves the asm. */
static bool text_leaves(const char *text)
{
	static const char *const words[] = {"call", "syscall", "sysenter", "int",
	                                    "jmp",  "ret",     "iret"};

	for (const char *p = text; *p;) {
		size_t n = 0;

		while (ISALNUM(p[n]) || p[n] == '_' || p[n] == '.')
			n++;
		for (const char *w : words)
			if ((n == strlen(w) || (n == strlen(w) + 1 && p[n - 1] == 'q')) &&
			    strncmp(p, w, strlen(w)) == 0)
				return true;
		p += n ? n : 1;
	}
	return false;
}

static bool is_r15(tree t)
{
	return t && VAR_P(t) && DECL_HARD_REGISTER(t) && DECL_ASSEMBLER_NAME_SET_P(t) &&
	       decode_reg_name(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(t)) +
	                       (IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(t))[0] == '*')) == R15_REG;
}

static bool asm_names_r15(gasm *stmt)
{
	if (strstr(gimple_asm_string(stmt), "r15"))
		return true;
	for (unsigned i = 0; i < gimple_asm_nclobbers(stmt); i++) {
		const char *name = TREE_STRING_POINTER(TREE_VALUE(gimple_asm_clobber_op(stmt, i)));

		if (decode_reg_name(name) == R15_REG)
			return true;
	}
	return false;
}

bool lz_stmt_names_r15(gimple *stmt)
{
	for (unsigned i = 0; i < gimple_num_ops(stmt); i++) {
		tree op = gimple_op(stmt, i);

		if (op && TREE_CODE(op) == TREE_LIST)
			op = TREE_VALUE(op);
		if (is_r15(op))
			return true;
	}
	return is_a<gasm *>(stmt) && asm_names_r15(as_a<gasm *>(stmt));
}

enum lz_call_kind lz_stmt_kind(gimple *stmt)
{
	if (gcall *call = dyn_cast<gcall *>(stmt))
		return call_kind(call);
	if (gasm *as = dyn_cast<gasm *>(stmt))
		if (text_leaves(gimple_asm_string(as)) || lz_stmt_names_r15(stmt))
			return LZ_CALL_FOREIGN;
	return LZ_CALL_NONE;
}

bool lz_stmt_is_landing_call(gimple *stmt)
{
	tree fndecl = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL;

	if (!is_gimple_call(stmt) || gimple_call_internal_p(stmt) ||
	    (fndecl && inline_builtin(fndecl)))
		return false;
	if (gimple_call_flags(stmt) & ECF_RETURNS_TWICE)
		return true;
	return fndecl && strcmp(lz_asm_name(fndecl), "swapcontext") == 0;
}
