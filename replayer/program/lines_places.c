/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a line to its addresses, as GDB's create_sals_line_offset() and find_line_common() have it. */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/program/lines_inside.h"

struct search {
	struct lz_lines *l;
	const char *file;
	uint32_t line;
	struct lz_line_places *out;
	uint64_t *work; /* places compared */
};

#define WORK_MAX (1ULL << 26) /* a second */

/* GIVEN is the path, or its last parts. */
static bool is_file(const char *path, const char *given)
{
	const size_t n = strlen(path), m = strlen(given);

	return n >= m && !strcmp(path + n - m, given) &&
	       (n == m || (*given != '/' && path[n - m - 1] == '/'));
}

static bool unit_names(struct lz_lines *l, const struct line_unit *u, const char *file)
{
	Dwarf_Files *files;
	Dwarf_Die cu;
	size_t n;

	if (!dwarf_offdie(l->dw, u->die, &cu) || dwarf_getsrcfiles(&cu, &files, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *name = dwarf_filesrc(files, i, NULL, NULL);

		if (name && is_file(name, file))
			return true;
	}
	return false;
}

static uint32_t block_at(const struct line_unit *u, uint64_t pc)
{
	const size_t n = lz_lower_bound(i, u->n_scopes, u->scopes[i].start <= pc);

	return n && pc < u->scopes[n - 1].end ? u->scopes[n - 1].block : LINES_NO_BLOCK;
}

static int add_rows(const struct search *s, const struct line_unit *u, const struct line_table *t)
{
	struct lz_line_places *out = s->out;
	const size_t first = out->n;

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct line_row *r = &t->rows[i];
		const uint32_t block = block_at(u, r->pc);
		bool there = false;

		if (r->line != out->line || !r->is_stmt)
			continue;
		*s->work += out->n - first;
		if (*s->work > WORK_MAX)
			return lz_fail("line %u of %s has too many places", out->line, s->file);
		for (size_t k = first; k < out->n; k++)
			there |= out->addr[k] == r->pc ||
			         (block != LINES_NO_BLOCK && block_at(u, out->addr[k]) == block);
		if (there)
			continue;
		if (lz_reserve(out->addr, out->room, out->n + 1) < 0)
			return -1;
		out->addr[out->n++] = r->pc;
	}
	return 0;
}

/* The line, or the first one behind it that has code. */
static void look_for_line(const struct search *s, const struct line_table *t, uint32_t *best)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct line_row *r = &t->rows[i];

		if (r->is_stmt && r->line >= s->line && (!*best || r->line < *best))
			*best = r->line;
	}
}

static int each_table(const struct search *s, bool add)
{
	int rc = 0;

	for (size_t i = 0; i < s->l->n_units; i++) {
		const struct line_unit *u = &s->l->units[i];

		for (size_t k = 0; rc == 0 && u->loaded && k < u->n_tables; k++) {
			if (!is_file(u->tables[k].file, s->file))
				continue;
			if (add)
				rc = add_rows(s, u, &u->tables[k]);
			else
				look_for_line(s, &u->tables[k], &s->out->line);
		}
	}
	return rc;
}

int lz_lines_places(struct lz_lines *l, const char *file, uint32_t line, struct lz_line_places *p)
{
	uint64_t work = 0;
	const struct search s = {l, file, line, p, &work};

	*p = (struct lz_line_places){0};
	for (uint32_t i = 0; i < l->n_units; i++)
		if (unit_names(l, &l->units[i], file) && lines_load_unit(l, i) < 0)
			return -1;
	each_table(&s, false);
	return p->line ? each_table(&s, true) : 0;
}
