/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lizard/error.h>
#include "replayer/program/lines_inside.h"

static char *debug_path = ":.debug:/usr/lib/debug";

/* The module is named for the place at which GDB opens the file: what a link in it names is
 * looked for from there. */
static int find_debuginfo(Dwfl_Module *mod, void **data, const char *origin, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
	const char *copy = NULL;
	int fd = -1;

	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &copy, NULL);
	if (link && *origin == '/' && file && copy && !strcmp(file, copy))
		fd = dwfl_standard_find_debuginfo(mod, data, NULL, base, origin, link, crc, found);
	if (fd >= 0)
		return fd;
	return dwfl_standard_find_debuginfo(mod, data, NULL, base, file, link, crc, found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
    .debuginfo_path = &debug_path,
};

static int by_start(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Which unit covers which addresses: from the units' own DIEs, .debug_aranges is optional. */
static int find_units(struct lz_lines *l)
{
	Dwarf_Die *cu = NULL;
	Dwarf_Addr bias;

	while ((cu = dwfl_module_nextcu(l->mod, cu, &bias)) != NULL) {
		struct line_unit *u = LINES_PUSH(l->units, l->n_units, l->cap_units);
		Dwarf_Addr base, start, end;
		ptrdiff_t off = 0;

		if (!u)
			return -1;
		*u = (struct line_unit){.die = dwarf_dieoffset(cu)};
		while ((off = dwarf_ranges(cu, off, &base, &start, &end)) > 0) {
			struct unit_range *r;

			if (start >= end)
				continue;
			r = LINES_PUSH(l->ranges, l->n_ranges, l->cap_ranges);
			if (!r)
				return -1;
			*r = (struct unit_range){start + bias, end + bias, l->n_units - 1};
		}
	}
	if (l->n_ranges)
		qsort(l->ranges, l->n_ranges, sizeof(*l->ranges), by_start);
	return 0;
}

static void find_plt(struct lz_lines *l)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(l->mod, &bias);
	Elf_Scn *scn = NULL;
	size_t strings;

	if (!elf || elf_getshdrstrndx(elf, &strings))
		return;
	while ((scn = elf_nextscn(elf, scn)) != NULL && l->n_plt < 8) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			l->plt[l->n_plt++] = (struct plt_section){
			    .start = sh.sh_addr,
			    .end = sh.sh_addr + sh.sh_size,
			    .stub = sh.sh_entsize ? sh.sh_entsize : 16,
			    /* GDB does not count .plt.got and its like. */
			    .counts = !name[4] || !strcmp(name, ".plt.sec"),
			};
	}
}

struct lz_lines *lz_lines_open(const char *path, const char *origin)
{
	struct lz_lines *l = calloc(1, sizeof(*l));

	if (!l || !(l->dwfl = dwfl_begin(&callbacks))) {
		free(l);
		lz_fail("%s: cannot read line tables: out of memory", path);
		return NULL;
	}
	dwfl_report_begin(l->dwfl);
	l->mod = dwfl_report_elf(l->dwfl, origin, path, -1, 0, true);
	dwfl_report_end(l->dwfl, NULL, NULL);
	if (!l->mod) {
		lz_fail("%s: cannot read it as an ELF file: %s", path, dwfl_errmsg(-1));
		lz_lines_close(l);
		return NULL;
	}
	find_plt(l);
	l->dw = dwfl_module_getdwarf(l->mod, &l->dw_bias);
	if (l->dw && find_units(l)) {
		lz_lines_close(l);
		return NULL;
	}
	return l;
}

void lz_lines_close(struct lz_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_units; i++) {
		for (size_t k = 0; k < l->units[i].n_tables; k++)
			free(l->units[i].tables[k].rows);
		free(l->units[i].tables);
		free(l->units[i].funcs);
		free(l->units[i].inlines);
		free(l->units[i].bodies);
		free(l->units[i].scopes);
	}
	free(l->units);
	free(l->syms);
	free(l->ranges);
	if (l->dwfl)
		dwfl_end(l->dwfl);
	free(l);
}

/* The unit of ADDR, loaded; NULL if there is none. */
struct line_unit *lines_unit_at(struct lz_lines *l, uint64_t addr)
{
	size_t n = lz_lower_bound(i, l->n_ranges, l->ranges[i].start <= addr);

	if (!n || addr >= l->ranges[n - 1].end)
		return NULL;
	if (lines_load_unit(l, l->ranges[n - 1].unit))
		return NULL;
	return &l->units[l->ranges[n - 1].unit];
}

struct lz_sal lz_lines_find(struct lz_lines *l, uint64_t addr)
{
	struct lz_sal sal = {.pc = addr};
	const struct line_unit *u = lines_unit_at(l, addr);

	if (u)
		lines_find_row(u, addr, &sal);
	return sal;
}

static const struct plt_section *plt_at(const struct lz_lines *l, uint64_t addr)
{
	for (size_t i = 0; i < l->n_plt; i++)
		if (addr >= l->plt[i].start && addr < l->plt[i].end)
			return &l->plt[i];
	return NULL;
}

bool lz_lines_function(struct lz_lines *l, uint64_t addr, struct lz_range *out)
{
	struct line_unit *u = lines_unit_at(l, addr);
	const struct plt_section *stubs;

	for (size_t i = 0; u && i < u->n_funcs; i++) {
		if (addr < u->funcs[i].start || addr >= u->funcs[i].end)
			continue;
		*out = (struct lz_range){u->funcs[i].start, u->funcs[i].end, u->funcs[i].name};
		return true;
	}
	stubs = plt_at(l, addr);
	if (stubs) { /* each of them has a name in GDB */
		out->start = addr - (addr - stubs->start) % stubs->stub;
		out->end = out->start + stubs->stub;
		out->name = "@plt";
		return true;
	}
	return lines_symbol(l, addr, out);
}

uint64_t lz_lines_frame_start(struct lz_lines *l, uint64_t addr)
{
	struct line_unit *u = lines_unit_at(l, addr);
	size_t n = u ? lz_lower_bound(i, u->n_bodies, u->bodies[i].start <= addr) : 0;
	struct lz_range f;

	if (n && addr < u->bodies[n - 1].end)
		return u->bodies[n - 1].entry;
	return lz_lines_function(l, addr, &f) ? f.start : 0;
}

const struct line_inline *lines_inline_at(const struct line_unit *u, uint64_t addr, size_t which)
{
	for (size_t i = 0; i < u->n_inlines; i++)
		if (addr >= u->inlines[i].start && addr < u->inlines[i].end && which-- == 0)
			return &u->inlines[i];
	return NULL;
}

static struct lz_inline as_gdb_has_it(const struct line_inline *in)
{
	bool far = lz_gdb_keeps_far_lines(), known = lz_gdb_knows_entries() && in->entry_pc;

	return (struct lz_inline){.entry = known ? in->entry_pc : in->entry,
	                          .start = in->start,
	                          .end = in->end,
	                          .call_line = far ? in->call_line : (uint16_t)in->call_line,
	                          .call_symtab = in->call_symtab,
	                          .id = in->die};
}

size_t lz_lines_inlines(struct lz_lines *l, uint64_t addr, struct lz_inline *out, size_t max)
{
	struct line_unit *u = lines_unit_at(l, addr);
	size_t n = 0;

	for (size_t i = 0; u && i < u->n_inlines && n < max; i++) {
		const struct line_inline *in = &u->inlines[i];

		if (addr >= in->start && addr < in->end)
			out[n++] = as_gdb_has_it(in);
	}
	return n;
}

size_t lz_lines_inline_ranges(struct lz_lines *l, uint64_t addr, size_t which, struct lz_part *out,
                              size_t max)
{
	struct line_unit *u = lines_unit_at(l, addr);
	const struct line_inline *own = u ? lines_inline_at(u, addr, which) : NULL;
	size_t n = 0;

	if (!own || !max)
		return 0;
	out[n++] = (struct lz_part){own->start, own->end};
	/* One that was empty but for GDB has a piece of an instruction. */
	for (const struct line_inline *in = u->inlines; in < u->inlines + u->n_inlines; in++)
		if (in != own && in->die == own->die && in->end - in->start > 1 && n < max)
			out[n++] = (struct lz_part){in->start, in->end};
	return n;
}

bool lz_lines_in_plt(const struct lz_lines *l, uint64_t addr)
{
	const struct plt_section *p = plt_at(l, addr);

	return p && p->counts;
}

bool lz_lines_in_other_plt(const struct lz_lines *l, uint64_t addr)
{
	const struct plt_section *p = plt_at(l, addr);

	return p && !p->counts;
}
