/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which piece of which .lizard section a function's record goes into.
 *
 * All functions of one text section share a piece, which is tied to that
 * section. Simple linkers (tcc's) can't read an object with two relocation
 * sections of one name, so the pieces have names of their own, as far as that
 * does not fill the program with sections: where each function has a section of
 * its own (-ffunction-sections, COMDAT groups), all are called alike. */
#include "gcc.h"
#include "plugin.h"

static const char *text_section_of(tree fndecl)
{
	basic_block first = ENTRY_BLOCK_PTR_FOR_FN(cfun)->next_bb;
	section *text;

	/* as assemble_start_function() is about to do */
	first_function_block_is_cold =
	    crtl->has_bb_partition && BB_PARTITION(first) == BB_COLD_PARTITION;
	text = function_section(fndecl);
	return SECTION_STYLE(text) == SECTION_NAMED ? text->named.name : ".text";
}

static bool one_section_each(tree fndecl)
{
	return DECL_COMDAT_GROUP(fndecl) || symtab_node::get(fndecl)->implicit_section;
}

/* ".text.unlikely" gives ".lizard.unlikely", "foo" gives ".lizard.foo". */
static const char *piece_name(tree fndecl, const char *text)
{
	size_t prefix = strlen(".text");

	if (one_section_each(fndecl) || strcmp(text, ".text") == 0)
		return LZ_CFG_SECTION;
	if (strncmp(text, ".text.", prefix + 1) == 0)
		text += prefix;
	return concat(LZ_CFG_SECTION, text[0] == '.' ? "" : ".", text, NULL);
}

static const char *group_name(tree fndecl)
{
	tree group = DECL_COMDAT_GROUP(fndecl);

	return group ? IDENTIFIER_POINTER(group) : NULL;
}

const struct lz_piece *lz_piece_of(tree fndecl)
{
	static hash_map<nofree_string_hash, const struct lz_piece *> known;
	const char *text = text_section_of(fndecl), *group = group_name(fndecl);
	bool exists;
	const struct lz_piece *&piece =
	    known.get_or_insert(concat(text, "\n", group, NULL), &exists);

	if (!exists)
		piece = new lz_piece{piece_name(fndecl, text), group, xstrdup(lz_asm_name(fndecl))};
	return piece;
}
