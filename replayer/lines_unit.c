/* One compilation unit's rows, functions and inlined calls. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "lines_int.h"

/* State of one sequence of the line program, as GDB's reader keeps it. */
struct sequence {
	bool any, stmt_at_addr, discriminated;
	uint32_t symtab, line; /* of the last row, */
	uint64_t addr;
	uint32_t kept_line; /* and of the last one that was kept */
};

struct symtab_names {
	const char **name;
	size_t n, cap;
};

static int symtab_of(struct symtab_names *t, uint32_t unit, const char *file, uint32_t *id)
{
	const char **slot;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->name[i] == file || !strcmp(t->name[i], file))
			break;
	if (i == t->n) {
		slot = LINES_PUSH(t->name, t->n, t->cap);
		if (!slot)
			return -1;
		*slot = file;
	}
	*id = unit << 12 | (i & 0xFFF);
	return 0;
}

static int add_row(struct line_unit *u, const struct line_row *row)
{
	struct line_row *r = LINES_PUSH(u->rows, u->n_rows, u->cap_rows);

	if (!r)
		return -1;
	*r = *row;
	return 0;
}

/* The file's rows at this very address are empty: they go. */
static void drop_empty(struct line_unit *u, uint32_t symtab, uint64_t pc)
{
	while (u->n_rows && u->rows[u->n_rows - 1].pc == pc &&
	       u->rows[u->n_rows - 1].symtab == symtab && u->rows[u->n_rows - 1].line)
		u->n_rows--;
}

static int take_row(struct line_unit *u, struct sequence *s, const struct line_row *row, bool end,
                    unsigned discriminator)
{
	bool changed = !s->any || s->symtab != row->symtab;
	bool ignore = !end && (row->line == 0 || (changed && s->any && s->addr == row->pc &&
	                                          !row->is_stmt && s->stmt_at_addr));

	s->discriminated = discriminator || (!changed && row->line == s->line && s->discriminated);
	if (s->any && ((changed && !ignore) || end))
		drop_empty(u, s->symtab, row->pc);
	if (end) {
		struct line_row stop = {.pc = row->pc};

		*s = (struct sequence){0};
		return add_row(u, &stop);
	}
	if (!ignore) {
		if ((changed || row->line != s->kept_line || !s->discriminated) && add_row(u, row))
			return -1;
		s->kept_line = row->line;
	}
	if (!s->any || s->addr != row->pc)
		s->stmt_at_addr = false;
	s->any = true;
	s->addr = row->pc;
	s->line = row->line;
	s->symtab = row->symtab;
	s->stmt_at_addr |= row->is_stmt;
	return 0;
}

static int load_rows(struct lz_lines *l, uint32_t unit, Dwarf_Die *cu)
{
	struct line_unit *u = &l->units[unit];
	struct symtab_names names = {0};
	struct sequence s = {0};
	Dwarf_Lines *lines;
	size_t n;
	int rc = 0;

	if (dwarf_getsrclines(cu, &lines, &n))
		return 0;
	for (size_t i = 0; i < n && !rc; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct line_row row = {0};
		unsigned discriminator = 0;
		Dwarf_Addr addr;
		bool end = false;
		int no = 0;

		if (!line || dwarf_lineaddr(line, &addr) || dwarf_lineno(line, &no))
			continue;
		dwarf_linebeginstatement(line, &row.is_stmt);
		dwarf_lineendsequence(line, &end);
		dwarf_linediscriminator(line, &discriminator);
		row.pc = addr + l->dw_bias;
		row.line = no;
		row.file = dwarf_linesrc(line, NULL, NULL);
		if (!row.file)
			row.file = "?";
		rc = symtab_of(&names, unit, row.file, &row.symtab);
		if (!rc)
			rc = take_row(u, &s, &row, end, discriminator);
	}
	free(names.name);
	return rc;
}

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

static int add_inline(struct lz_lines *l, struct line_unit *u, Dwarf_Die *die, Dwarf_Files *files,
                      uint32_t depth)
{
	struct line_inline in = {.depth = depth};
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attr;
	Dwarf_Word word;
	ptrdiff_t off = 0;
	bool first = true;

	if (dwarf_attr(die, DW_AT_call_line, &attr) && !dwarf_formudata(&attr, &word))
		in.call_line = word;
	if (files && dwarf_attr(die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &word))
		in.call_file = dwarf_filesrc(files, word, NULL, NULL);
	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0) {
		struct line_inline *slot;

		if (start >= end)
			continue;
		slot = LINES_PUSH(u->inlines, u->n_inlines, u->cap_inlines);
		if (!slot)
			return -1;
		in.start = start + l->dw_bias;
		in.end = end + l->dw_bias;
		if (first)
			in.entry = in.start;
		first = false;
		*slot = in;
	}
	return 0;
}

enum { MAX_NESTING = 256 }; /* of DIEs: a damaged file must not eat the stack */

static int walk(struct lz_lines *l, struct line_unit *u, Dwarf_Die *parent, Dwarf_Files *files,
                unsigned nesting, uint32_t depth)
{
	Dwarf_Die die;
	int more;

	if (nesting > MAX_NESTING || dwarf_child(parent, &die))
		return 0;
	do {
		uint32_t inner = depth;

		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (add_function(l, u, &die))
				return -1;
			inner = 0;
			break;
		case DW_TAG_inlined_subroutine:
			if (add_inline(l, u, &die, files, depth))
				return -1;
			inner++;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type: break;
		default: continue;
		}
		if (walk(l, u, &die, files, nesting + 1, inner))
			return -1;
	} while ((more = dwarf_siblingof(&die, &die)) == 0);
	return 0;
}

int lines_load_unit(struct lz_lines *l, uint32_t unit)
{
	struct line_unit *u = &l->units[unit];
	Dwarf_Files *files = NULL;
	Dwarf_Die cu;
	size_t n;

	if (u->loaded)
		return 0;
	u->loaded = true;
	if (!dwarf_offdie(l->dw, u->die, &cu))
		return lz_fail("cannot read a compilation unit: %s", dwarf_errmsg(-1));
	if (dwarf_getsrcfiles(&cu, &files, &n))
		files = NULL;
	return load_rows(l, unit, &cu) || walk(l, u, &cu, files, 0, 0) ? -1 : 0;
}
