/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line tables of one compilation unit: one for each file, as GDB keeps them. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/program/lines_inside.h"

#define NO_ADDRESS UINT64_MAX

/* State of one sequence of the line program, as GDB's reader keeps it. */
struct sequence {
	struct line_table *now,
	    *last;   /* of the row that is read, and of the last one that was kept */
	size_t file; /* of the row before, by number */
	bool stmt_at_addr, discriminated;
	uint32_t line, kept_line;
	uint64_t addr;
};

/* ---- reading ---- */

struct line_table *lines_table(const struct line_unit *u, const char *file)
{
	for (size_t i = 0; i < u->n_tables; i++)
		if (!strcmp(u->tables[i].file, file))
			return &u->tables[i];
	return NULL;
}

/* The table of the file, which may be named more than once. */
static struct line_table *table_of(struct line_unit *u, uint32_t unit, const char *file)
{
	struct line_table *t = lines_table(u, file);

	if (t)
		return t;
	t = LINES_PUSH(u->tables, u->n_tables, u->cap_tables);
	if (t)
		*t = (struct line_table){.file = file,
		                         .id = unit << 12 | ((u->n_tables - 1) & 0xFFF)};
	return t;
}

/* Is FILE the unit's own source? */
static bool is_primary(Dwarf_Die *cu, const char *file)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_diename(cu), *dir;
	size_t len;

	if (!name)
		return false;
	if (name[0] == '/' || !dwarf_attr(cu, DW_AT_comp_dir, &attr) ||
	    !(dir = dwarf_formstring(&attr)))
		return !strcmp(file, name);
	len = strlen(dir);
	return !strncmp(file, dir, len) && file[len] == '/' && !strcmp(file + len + 1, name);
}

static const char *name_of(Dwarf_Files *files, size_t i)
{
	const char *name = dwarf_filesrc(files, i, NULL, NULL);

	return name ? name : "?";
}

/* GDB's order: the unit's own source, then as in the list of files. */
int lines_make_tables(struct line_unit *u, uint32_t unit, Dwarf_Die *cu, Dwarf_Files *files,
                      size_t n_files)
{
	for (size_t i = 0; i < n_files; i++)
		if (is_primary(cu, name_of(files, i)) && !table_of(u, unit, name_of(files, i)))
			return -1;
	for (size_t i = 0; i < n_files; i++)
		if (!table_of(u, unit, name_of(files, i)))
			return -1;
	return 0;
}

static int add_row(struct line_table *t, const struct line_row *row)
{
	struct line_row *r = LINES_PUSH(t->rows, t->n_rows, t->cap_rows);

	if (!r)
		return -1;
	*r = *row;
	return 0;
}

/* The file's rows end at PC. Those at this very address are empty: they go. */
static int end_rows(struct line_table *t, uint64_t pc)
{
	struct line_row end = {.pc = pc};

	if (!t->n_rows)
		return 0;
	for (;;) {
		const struct line_row *r = &t->rows[t->n_rows - 1];

		if (r->pc != pc)
			return r->line ? add_row(t, &end) : 0;
		if (--t->n_rows)
			continue;
		return r->line ? add_row(t, &end) : 0;
	}
}

static int take_row(struct sequence *s, struct line_table *t, const struct line_row *row, bool end,
                    unsigned discriminator)
{
	bool changed, ignore;

	if (t != s->now) {
		if (!lz_gdb_ends_kept_file())
			s->last = s->now;
		s->now = t;
		s->discriminated = false;
	}
	changed = s->last != t;
	ignore = !end && (!row->line ||
	                  (changed && s->addr == row->pc && !row->is_stmt && s->stmt_at_addr));
	s->discriminated = discriminator || (row->line == s->line && s->discriminated);
	if (s->last && ((changed && !ignore) || end) && end_rows(s->last, row->pc))
		return -1;
	if (end) {
		*s = (struct sequence){0};
		return 0;
	}
	if (!ignore) {
		if ((changed || row->line != s->kept_line || !s->discriminated) && add_row(t, row))
			return -1;
		s->last = t;
		s->kept_line = row->line;
	}
	if (s->addr != row->pc)
		s->stmt_at_addr = false;
	s->addr = row->pc;
	s->line = row->line;
	s->stmt_at_addr |= row->is_stmt;
	return 0;
}

/* Only those that have rows are looked at from here on. */
static void drop_empty(struct line_unit *u)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->n_tables; i++) {
		if (u->tables[i].n_rows)
			u->tables[kept++] = u->tables[i];
		else
			free(u->tables[i].rows);
	}
	u->n_tables = kept;
}

/* libdw sorts a sequence's end before its other rows at that address, which are empty. They are no
 * new sequence's: that begins with a statement. */
static bool is_behind_end(uint64_t *ended, const struct line_row *row, bool end)
{
	bool behind = !end && row->pc == *ended && !row->is_stmt;

	*ended = end || behind ? row->pc : NO_ADDRESS;
	return behind;
}

static int read_rows(struct line_unit *u, uint32_t unit, Dwarf_Lines *lines, size_t n,
                     Dwarf_Files *files, uint64_t bias, struct line_blocks *blocks)
{
	struct sequence s = {0};
	uint64_t ended = NO_ADDRESS;

	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct line_row row = {0};
		struct line_table *t;
		unsigned discriminator = 0;
		Dwarf_Addr addr;
		size_t file = 0;
		bool end = false;
		int no = 0;

		if (!line || dwarf_lineaddr(line, &addr) || dwarf_lineno(line, &no) ||
		    dwarf_line_file(line, &files, &file))
			continue;
		dwarf_linebeginstatement(line, &row.is_stmt);
		dwarf_lineendsequence(line, &end);
		dwarf_linediscriminator(line, &discriminator);
		row.pc = addr + bias;
		row.line = no;
		if (is_behind_end(&ended, &row, end))
			continue;
		if (blocks && s.stmt_at_addr && s.addr != row.pc && !row.is_stmt)
			lines_extend_inlined(blocks, s.addr, row.pc, row.line);
		t = s.now && s.file == file ? s.now : table_of(u, unit, name_of(files, file));
		if (!t || take_row(&s, t, &row, end, discriminator))
			return -1;
		s.file = file;
	}
	return 0;
}

int lines_read_rows(struct lz_lines *l, uint32_t unit, Dwarf_Die *cu, Dwarf_Files *files,
                    struct line_blocks *blocks)
{
	struct line_unit *u = &l->units[unit];
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(cu, &lines, &n) == 0 &&
	    read_rows(u, unit, lines, n, files, l->dw_bias, blocks))
		return -1;
	drop_empty(u);
	return 0;
}

/* ---- looking up ---- */

/* The first row behind ADDR; n_rows if there is none. */
static size_t row_behind(const struct line_table *t, uint64_t addr)
{
	return lz_lower_bound(i, t->n_rows, t->rows[i].pc <= addr);
}

/* The row behind that ends the one before it. */
static size_t row_that_ends(const struct line_table *t, size_t behind)
{
	uint32_t line = behind ? t->rows[behind - 1].line : 0;

	while (behind && lz_gdb_joins_rows() && behind < t->n_rows &&
	       t->rows[behind].line == line && !t->rows[behind].is_stmt)
		behind++;
	return behind;
}

/* Of several rows at one address a statement's start counts. */
static const struct line_row *statement_of(const struct line_table *t, const struct line_row *row)
{
	for (const struct line_row *r = row; !r->is_stmt && r > t->rows; r--) {
		if (r[-1].pc != row->pc || !r[-1].line)
			break;
		if (r[-1].is_stmt)
			return r - 1;
	}
	return row;
}

/* GDB's find_pc_sect_line(). Where the row ends depends on the order of the files: a table that
 * comes before the one that has the best row is only looked at for a row, not for an end. */
void lines_find_row(const struct line_unit *u, uint64_t addr, struct lz_sal *sal)
{
	const struct line_row *best = NULL;
	uint64_t end = 0, first_behind = 0;

	for (size_t i = 0; i < u->n_tables; i++) {
		const struct line_table *t = &u->tables[i];
		size_t behind = row_behind(t, addr);
		const struct line_row *row = behind ? &t->rows[behind - 1] : NULL;
		size_t ends = row_that_ends(t, behind);
		uint64_t next = ends < t->n_rows ? t->rows[ends].pc : 0;

		if (!row && (!first_behind || next < first_behind))
			first_behind = next;
		if (row && row->line && (!best || row->pc > best->pc)) {
			best = statement_of(t, row);
			sal->file = t->file;
			sal->symtab = t->id;
			if (end <= best->pc)
				end = 0;
		}
		if (best && next > best->pc && (!end || next < end))
			end = next;
	}
	if (!best)
		return;
	if (first_behind && (!end || first_behind <= end))
		end = first_behind;
	sal->pc = best->pc;
	sal->end = end ? end : addr + 1;
	sal->line = best->line;
	sal->is_stmt = best->is_stmt;
}
