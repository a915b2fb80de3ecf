/* What a statement means for the marker pointer in r15. */
#include "gcc.h"
#include "plugin.h"

const char *lz_asm_name(tree fndecl)
{
	const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fndecl));

	return targetm.strip_name_encoding(name);
}

/* Builtins that GCC always expands in place, and those of the target. */
static bool inline_builtin(tree fndecl)
{
	if (fndecl_built_in_p(fndecl, BUILT_IN_MD))
		return true;
	if (!fndecl_built_in_p(fndecl, BUILT_IN_NORMAL))
		return false;
	switch (DECL_FUNCTION_CODE(fndecl)) {
	case BUILT_IN_ALLOCA:
	case BUILT_IN_ALLOCA_WITH_ALIGN:
	case BUILT_IN_ALLOCA_WITH_ALIGN_AND_MAX:
	case BUILT_IN_STACK_SAVE:
	case BUILT_IN_STACK_RESTORE:
	case BUILT_IN_VA_START:
	case BUILT_IN_VA_END:
	case BUILT_IN_VA_COPY:
	case BUILT_IN_NEXT_ARG:
	case BUILT_IN_FRAME_ADDRESS:
	case BUILT_IN_RETURN_ADDRESS:
	case BUILT_IN_EXTRACT_RETURN_ADDR:
	case BUILT_IN_EXPECT:
	case BUILT_IN_EXPECT_WITH_PROBABILITY:
	case BUILT_IN_ASSUME_ALIGNED:
	case BUILT_IN_UNREACHABLE:
	case BUILT_IN_TRAP:
	case BUILT_IN_PREFETCH:
	case BUILT_IN_OBJECT_SIZE:
	case BUILT_IN_CONSTANT_P:
	case BUILT_IN_CLZ: case BUILT_IN_CLZL: case BUILT_IN_CLZLL:
	case BUILT_IN_CTZ: case BUILT_IN_CTZL: case BUILT_IN_CTZLL:
	case BUILT_IN_CLRSB: case BUILT_IN_CLRSBL: case BUILT_IN_CLRSBLL:
	case BUILT_IN_POPCOUNT: case BUILT_IN_POPCOUNTL: case BUILT_IN_POPCOUNTLL:
	case BUILT_IN_PARITY: case BUILT_IN_PARITYL: case BUILT_IN_PARITYLL:
	case BUILT_IN_BSWAP16: case BUILT_IN_BSWAP32: case BUILT_IN_BSWAP64: case BUILT_IN_BSWAP128:
	case BUILT_IN_ISNAN: case BUILT_IN_ISINF: case BUILT_IN_ISINF_SIGN: case BUILT_IN_ISFINITE:
	case BUILT_IN_ISNORMAL: case BUILT_IN_ISUNORDERED:
	case BUILT_IN_SIGNBIT: case BUILT_IN_SIGNBITF: case BUILT_IN_SIGNBITL:
	case BUILT_IN_INIT_TRAMPOLINE:
	case BUILT_IN_INIT_HEAP_TRAMPOLINE:
	case BUILT_IN_ADJUST_TRAMPOLINE:
	case BUILT_IN_INIT_DESCRIPTOR:
	case BUILT_IN_ADJUST_DESCRIPTOR:
	case BUILT_IN_SETJMP_SETUP:
	case BUILT_IN_SETJMP_RECEIVER:
	case BUILT_IN_EH_POINTER:
	case BUILT_IN_EH_FILTER:
	case BUILT_IN_EH_COPY_VALUES:
	case BUILT_IN_DWARF_CFA:
	case BUILT_IN_DWARF_SP_COLUMN:
	case BUILT_IN_UNWIND_INIT:
	case BUILT_IN_THREAD_POINTER:
	case BUILT_IN_SYNC_SYNCHRONIZE:
	case BUILT_IN_ATOMIC_THREAD_FENCE:
	case BUILT_IN_ATOMIC_SIGNAL_FENCE:
	case BUILT_IN_CLEAR_PADDING:
		return true;
	default:
		break;
	}
	/* lock-free sizes; 16 bytes go to libatomic, which is a leaf too */
	return (DECL_FUNCTION_CODE(fndecl) >= BUILT_IN_SYNC_FETCH_AND_ADD_N &&
	        DECL_FUNCTION_CODE(fndecl) <= BUILT_IN_ATOMIC_FETCH_OR_16);
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
	if (TREE_PUBLIC(fndecl) && !program_defines(fndecl) && lz_name_is_exempt(lz_asm_name(fndecl)))
		return LZ_CALL_NONE;
	return LZ_CALL_FOREIGN;
}

/* A word of TEXT that looks like an instruction which leaves the asm. */
static bool text_leaves(const char *text)
{
	static const char *const words[] = {"call", "syscall", "sysenter", "int", "jmp", "ret", "iret"};

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

	if (!is_gimple_call(stmt) || gimple_call_internal_p(stmt) || (fndecl && inline_builtin(fndecl)))
		return false;
	if (gimple_call_flags(stmt) & ECF_RETURNS_TWICE)
		return true;
	return fndecl && strcmp(lz_asm_name(fndecl), "swapcontext") == 0;
}
