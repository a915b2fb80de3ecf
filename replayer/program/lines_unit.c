/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One compilation unit's functions and inlined calls. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/program/lines_inside.h"

/* The details of one unit while they are read. */
struct reader {
	struct lz_lines *l;
	struct line_unit *u;
	uint32_t *symtab; /* of each file that the details name by number */
	size_t n_files;
};

static int add_function(struct lz_lines *l, struct line_unit *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0) {
		struct line_func *f;

		if (start >= end)
			continue;
		f = LINES_PUSH(u->funcs, u->n_funcs, u->cap_funcs);
		if (!f)
			return -1;
		*f = (struct line_func){start + l->dw_bias, end + l->dw_bias, dwarf_diename(die)};
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct line_inline *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Pieces of one call that touch are one: GDB looks whether the byte before is in the call, too.
 * Returns how many are left. */
static size_t join_pieces(struct line_inline *in, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(in, n, sizeof(*in), by_address);
	for (size_t i = 0; i < n; i++) {
		if (!kept || in[i].start > in[kept - 1].end)
			in[kept++] = in[i];
		else if (in[i].end > in[kept - 1].end)
			in[kept - 1].end = in[i].end;
	}
	return kept;
}

/* An offset counts from the first piece. An entry outside of all pieces is none. */
static void find_entry(const struct reader *rd, Dwarf_Die *die, struct line_inline *in, size_t n)
{
	Dwarf_Attribute attr;
	Dwarf_Addr entry;
	Dwarf_Word offset;
	bool inside = false;

	if (!n || !dwarf_attr(die, DW_AT_entry_pc, &attr))
		return;
	if (dwarf_formaddr(&attr, &entry) == 0)
		entry += rd->l->dw_bias;
	else if (dwarf_formudata(&attr, &offset) == 0)
		entry = in[0].entry + offset;
	else
		return;
	for (size_t i = 0; i < n; i++)
		inside |= entry >= in[i].start && entry < in[i].end;
	for (size_t i = 0; inside && i < n; i++)
		in[i].entry_pc = entry;
}

static int add_inline(const struct reader *rd, Dwarf_Die *die, uint32_t depth)
{
	struct line_unit *u = rd->u;
	struct line_inline in = {.die = dwarf_dieoffset(die), .depth = depth};
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attr;
	Dwarf_Word word;
	size_t first = u->n_inlines;
	ptrdiff_t off = 0;

	if (dwarf_attr(die, DW_AT_call_line, &attr) && !dwarf_formudata(&attr, &word))
		in.call_line = (uint32_t)word;
	if (dwarf_attr(die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &word) &&
	    word < rd->n_files)
		in.call_symtab = rd->symtab[word];
	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0) {
		struct line_inline *slot;

		if (start >= end)
			continue;
		slot = LINES_PUSH(u->inlines, u->n_inlines, u->cap_inlines);
		if (!slot)
			return -1;
		in.start = start + rd->l->dw_bias;
		in.end = end + rd->l->dw_bias;
		if (first == u->n_inlines - 1)
			in.entry = in.start;
		*slot = in;
	}
	find_entry(rd, die, u->inlines + first, u->n_inlines - first);
	u->n_inlines = first + join_pieces(u->inlines + first, u->n_inlines - first);
	return 0;
}

enum { MAX_NESTING = 256 }; /* of DIEs: a damaged file must not eat the stack */

static int walk(const struct reader *rd, Dwarf_Die *parent, unsigned nesting, uint32_t depth)
{
	Dwarf_Die die;
	int more;

	if (nesting > MAX_NESTING || dwarf_child(parent, &die))
		return 0;
	do {
		uint32_t inner = depth;

		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (add_function(rd->l, rd->u, &die))
				return -1;
			inner = 0;
			break;
		case DW_TAG_inlined_subroutine:
			if (add_inline(rd, &die, depth))
				return -1;
			inner++;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type: break;
		default: continue;
		}
		if (walk(rd, &die, nesting + 1, inner))
			return -1;
	} while ((more = dwarf_siblingof(&die, &die)) == 0);
	return 0;
}

/* Where the unit's functions are: with -gsplit-dwarf in a file of their own, beside which it has
 * only lines and addresses. */
static Dwarf_Die details(const Dwarf_Die *cu)
{
	Dwarf_Die split;
	uint8_t type;

	if (dwarf_cu_info(cu->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit)
		return split;
	return *cu;
}

static int read_details(struct reader *rd, Dwarf_Die *cu)
{
	Dwarf_Files *files;

	if (dwarf_getsrcfiles(cu, &files, &rd->n_files))
		rd->n_files = 0;
	rd->symtab = calloc(rd->n_files + 1, sizeof(*rd->symtab));
	if (!rd->symtab)
		return lz_fail("out of memory for line tables");
	for (size_t i = 0; i < rd->n_files; i++) {
		const char *file = dwarf_filesrc(files, i, NULL, NULL);
		const struct line_table *t = lines_table(rd->u, file ? file : "?");

		rd->symtab[i] = t ? t->id : 0;
	}
	return walk(rd, cu, 0, 0);
}

int lines_load_unit(struct lz_lines *l, uint32_t unit)
{
	struct line_unit *u = &l->units[unit];
	struct reader rd = {.l = l, .u = u};
	Dwarf_Files *files = NULL;
	Dwarf_Die cu;
	size_t n;
	int rc;

	if (u->loaded)
		return 0;
	u->loaded = true;
	if (!dwarf_offdie(l->dw, u->die, &cu))
		return lz_fail("cannot read a compilation unit: %s", dwarf_errmsg(-1));
	if (dwarf_getsrcfiles(&cu, &files, &n)) {
		files = NULL;
		n = 0;
	}
	if (lines_load_rows(l, unit, &cu, files, n))
		return -1;
	cu = details(&cu);
	rc = read_details(&rd, &cu);
	free(rd.symtab);
	return rc;
}
