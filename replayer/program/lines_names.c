/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions, as GDB shows them. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "replayer/program/cxx_names.h"
#include "replayer/program/lines_inside.h"

/* Malloced; NULL: DIE has none. */
static char *name_of(const Dwarf_Die *die)
{
	Dwarf_Die of = *die;
	Dwarf_Attribute attr;
	const char *linkers =
	    dwarf_formstring(dwarf_attr_integrate(&of, DW_AT_linkage_name, &attr));
	char *name = linkers ? lz_cxx_demangled(linkers) : NULL;
	const char *plain = name ? NULL : dwarf_diename(&of);

	return plain ? strdup(plain) : name;
}

char *lz_lines_function_name(struct lz_lines *l, uint64_t addr)
{
	struct line_unit *u = lines_unit_at(l, addr);
	struct lz_range f;

	for (size_t i = 0; u && i < u->n_funcs; i++)
		if (addr >= u->funcs[i].start && addr < u->funcs[i].end)
			return name_of(&u->funcs[i].die);
	if (!lines_symbol(l, addr, &f) || !f.name)
		return NULL;
	char *name = lz_cxx_demangled(f.name);
	return name ? name : strdup(f.name);
}

char *lz_lines_inline_name(struct lz_lines *l, uint64_t addr, size_t which)
{
	struct line_unit *u = lines_unit_at(l, addr);
	const struct line_inline *in = u ? lines_inline_at(u, addr, which) : NULL;

	return in ? name_of(&in->of) : NULL;
}

const char *lz_lines_symtab_file(struct lz_lines *l, uint64_t addr, uint32_t symtab)
{
	struct line_unit *u = lines_unit_at(l, addr);

	for (size_t i = 0; u && i < u->n_tables; i++)
		if (u->tables[i].id == symtab)
			return u->tables[i].file;
	return NULL;
}
