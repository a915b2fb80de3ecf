/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One compilation unit's functions and inlined calls. */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/program/lines_inside.h"

enum {
	MAX_NESTING = 256,      /* of DIEs: a damaged file must not eat the stack */
	MAX_ORIGINS = 16,       /* that lead from one to the next */
	MAX_INHERITED = 1 << 22 /* DIEs read in another's place: nor must it take for ever */
};

/* The details of one unit while they are read. */
struct reader {
	struct lz_lines *l;
	struct line_unit *u;
	uint32_t *symtab; /* of each file that the details name by number */
	size_t n_files;
	bool by_gcc;
	struct line_blocks blocks;
	void *open[MAX_NESTING + 1]; /* the DIEs around the one that is read */
	unsigned inheriting;         /* others' places in which it is read, in each other */
	uint32_t inherited;          /* how many were read in another's place */
};

/* Where the code of a block is. */
struct extent {
	struct lz_part *v;
	uint32_t n, cap, ranges; /* ranges: the first one that DW_AT_ranges has */
	bool named;              /* the DIE says something of it */
	bool widen, widened;     /* empty ones become one byte; DW_AT_high_pc's has */
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
		*f = (struct line_func){start + l->dw_bias, end + l->dw_bias, dwarf_diename(die),
		                        *die};
	}
	return 0;
}

static bool origin_of(Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Attribute attr;

	return (dwarf_attr(die, DW_AT_abstract_origin, &attr) ||
	        dwarf_attr(die, DW_AT_specification, &attr)) &&
	       dwarf_formref_die(&attr, origin);
}

/* The DIE that has the attribute for DIE: itself or an origin, as for GDB's dwarf2_attr(). */
static bool holder(const Dwarf_Die *die, unsigned name, Dwarf_Die *of)
{
	*of = *die;
	for (int i = 0; i < MAX_ORIGINS; i++) {
		Dwarf_Die origin;

		if (dwarf_hasattr(of, name))
			return true;
		if (!origin_of(of, &origin))
			return false;
		*of = origin;
	}
	return false;
}

/* One of the two ways in which a DIE says where its code is. */
static int add_ranges(const struct reader *rd, Dwarf_Die *of, struct extent *x)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(of, off, &base, &start, &end)) > 0) {
		struct lz_part *slot;

		if (start == end && x->widen)
			end++;
		if (start >= end)
			continue;
		slot = LINES_PUSH(x->v, x->n, x->cap);
		if (!slot)
			return -1;
		*slot = (struct lz_part){start + rd->l->dw_bias, end + rd->l->dw_bias};
	}
	return 0;
}

static bool is_empty(Dwarf_Die *die)
{
	Dwarf_Addr low, high;

	return dwarf_lowpc(die, &low) == 0 && dwarf_highpc(die, &high) == 0 && low == high;
}

/* Older GDBs take both ways, even where one of them is the origin's. */
static int read_extent(const struct reader *rd, const Dwarf_Die *die, struct extent *x)
{
	Dwarf_Die high, ranges;
	bool has_high = holder(die, DW_AT_high_pc, &high);
	bool has_ranges = holder(die, DW_AT_ranges, &ranges);

	*x = (struct extent){.named = has_high || has_ranges,
	                     .widen = rd->by_gcc && lz_gdb_widens_empty() &&
	                              dwarf_tag((Dwarf_Die *)die) == DW_TAG_inlined_subroutine};
	if (has_high && add_ranges(rd, &high, x))
		return -1;
	x->widened = x->n && is_empty(&high);
	/* Without one of them GDB leaves the block out. */
	if (has_high && (!x->n || !lz_gdb_takes_both_extents()))
		return 0;
	if (has_ranges && !(has_high && high.addr == ranges.addr)) {
		x->ranges = x->n;
		return add_ranges(rd, &ranges, x);
	}
	return 0;
}

/* An offset counts from the first piece. An entry outside of all pieces is none. */
static uint64_t find_entry(const struct reader *rd, Dwarf_Die *die, const struct extent *x)
{
	Dwarf_Attribute attr;
	Dwarf_Addr entry;
	Dwarf_Word offset;

	if (!dwarf_attr(die, DW_AT_entry_pc, &attr))
		return 0;
	if (dwarf_formaddr(&attr, &entry) == 0)
		entry += rd->l->dw_bias;
	else if (dwarf_formudata(&attr, &offset) == 0)
		entry = x->v[x->ranges].start + offset;
	else
		return 0;
	for (uint32_t i = 0; i < x->n; i++)
		if (entry >= x->v[i].start && entry < x->v[i].end)
			return entry;
	return 0;
}

/* False: GDB does not take it for a call. */
static bool read_call(const struct reader *rd, Dwarf_Die *die, const struct extent *x,
                      struct line_inline *in)
{
	Dwarf_Attribute attr;
	Dwarf_Word line, file;

	if (!dwarf_attr(die, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line) ||
	    !dwarf_attr(die, DW_AT_call_file, &attr) || dwarf_formudata(&attr, &file))
		return false;
	*in = (struct line_inline){.die = dwarf_dieoffset(die),
	                           .of = *die,
	                           .entry = x->v[x->ranges].start,
	                           .entry_pc = find_entry(rd, die, x),
	                           .call_line = (uint32_t)line,
	                           .call_symtab = file < rd->n_files ? rd->symtab[file] : 0};
	return true;
}

static bool is_block(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block;
}

/* What may have blocks in it: a local type has member functions. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static int walk(struct reader *rd, Dwarf_Die *parent, unsigned nesting, uint32_t around);
static int inherit(struct reader *rd, Dwarf_Die *die, unsigned nesting, uint32_t around);

static bool has_symbols(Dwarf_Die *die)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		const int tag = dwarf_tag(&child);

		if (!is_block(tag) && tag != DW_TAG_GNU_call_site && tag != DW_TAG_call_site)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* GDB drops a scope in which nothing is declared. */
static bool is_kept(Dwarf_Die *die)
{
	Dwarf_Die origin;

	return dwarf_tag(die) != DW_TAG_lexical_block || has_symbols(die) ||
	       (origin_of(die, &origin) && has_symbols(&origin));
}

static int add_block(struct reader *rd, Dwarf_Die *die, unsigned nesting, uint32_t around)
{
	int tag = dwarf_tag(die);
	struct line_block block = {.around = around,
	                           .function = tag == DW_TAG_subprogram,
	                           .inlined = tag == DW_TAG_inlined_subroutine,
	                           .scope = is_kept(die)};
	struct extent x;
	uint32_t number;
	int rc = read_extent(rd, die, &x);

	if (rc || !x.n) {
		/* A scope that says nothing of where it is: as if it were not there. */
		if (!rc && tag == DW_TAG_lexical_block && !x.named)
			rc = walk(rd, die, nesting + 1, around);
		free(x.v);
		return rc;
	}
	if (block.inlined && !read_call(rd, die, &x, &block.call)) {
		free(x.v);
		return 0;
	}
	if (block.function)
		block.call.entry = x.v[x.ranges].start;
	block.widened = x.widened;
	number = lines_add_block(&rd->blocks, &block, x.v, x.n);
	free(x.v);
	if (number == LINES_NO_BLOCK || walk(rd, die, nesting + 1, number) ||
	    inherit(rd, die, nesting + 1, number))
		return -1;
	return lines_finish_block(&rd->blocks, number);
}

static int process(struct reader *rd, Dwarf_Die *die, unsigned nesting, uint32_t around)
{
	int tag = dwarf_tag(die), rc = 0;

	if (nesting > MAX_NESTING || (rd->inheriting && ++rd->inherited >= MAX_INHERITED))
		return 0;
	for (unsigned i = 0; i < nesting; i++)
		if (rd->open[i] == die->addr)
			return 0;
	rd->open[nesting] = die->addr;
	if (tag == DW_TAG_subprogram)
		rc = add_function(rd->l, rd->u, die);
	if (!rc && is_block(tag))
		rc = add_block(rd, die, nesting, around);
	else if (is_scope(tag))
		rc = walk(rd, die, nesting + 1, around);
	rd->open[nesting] = NULL;
	return rc;
}

static int walk(struct reader *rd, Dwarf_Die *parent, unsigned nesting, uint32_t around)
{
	Dwarf_Die die;

	if (nesting > MAX_NESTING || dwarf_child(parent, &die))
		return 0;
	do
		if (process(rd, &die, nesting, around))
			return -1;
	while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

static int by_pointer(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Whose instances the children of DIE are, sorted. NULL: out of memory. */
static const void **origins_within(Dwarf_Die *die, size_t *n)
{
	const void **v = calloc(1, sizeof(*v));
	size_t room = 1;
	Dwarf_Die child, at, origin;

	*n = 0;
	if (!v || dwarf_child(die, &child))
		return v;
	do {
		at = child;
		for (int i = 0; i < MAX_ORIGINS && origin_of(&at, &origin); i++)
			at = origin;
		if (at.addr == child.addr)
			continue;
		if (lz_reserve(v, room, *n + 1) < 0) {
			free(v);
			return NULL;
		}
		v[(*n)++] = at.addr;
	} while (dwarf_siblingof(&child, &child) == 0);
	qsort(v, *n, sizeof(*v), by_pointer);
	return v;
}

/* GDB's inherit_abstract_dies(): what DIE's origin has, and DIE itself has not. GCC names as origin
 * of a scope in an inlined coroutine the same scope of the one that is not inlined: then GDB takes
 * that one's code for part of the inlined call. */
static int inherit(struct reader *rd, Dwarf_Die *die, unsigned nesting, uint32_t around)
{
	Dwarf_Die origin, child;
	Dwarf_Attribute attr;
	const void **own;
	size_t n;
	int rc = 0;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) || !dwarf_formref_die(&attr, &origin) ||
	    origin.cu != die->cu || dwarf_child(&origin, &child))
		return 0;
	own = origins_within(die, &n);
	if (!own)
		return lz_fail("out of memory for line tables");
	rd->inheriting++;
	do {
		const void *addr = child.addr;
		int tag = dwarf_tag(&child);

		if ((is_block(tag) || is_scope(tag)) &&
		    !bsearch(&addr, own, n, sizeof(*own), by_pointer))
			rc = process(rd, &child, nesting, around);
	} while (!rc && dwarf_siblingof(&child, &child) == 0);
	rd->inheriting--;
	free(own);
	return rc;
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

/* GDB's producer_is_gcc(): "GNU C17 12.2.0 ...". */
static bool made_by_gcc(Dwarf_Die *cu)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_attr(cu, DW_AT_producer, &attr) ? dwarf_formstring(&attr) : NULL;
	int major, minor;

	return name && !strncmp(name, "GNU ", 4) && strncmp(name, "GNU AS ", 7) != 0 &&
	       sscanf(name, "GNU %*s %d.%d", &major, &minor) == 2;
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
	rd->by_gcc = made_by_gcc(cu);
	if (walk(rd, cu, 0, LINES_NO_BLOCK))
		return -1;
	lines_sort_ends(&rd->blocks);
	return 0;
}

/* In GDB's order: the rows can move the ends of blocks. */
static int load(struct reader *rd, uint32_t unit, Dwarf_Die *cu)
{
	Dwarf_Files *files = NULL;
	Dwarf_Die inner = details(cu);
	size_t n;
	bool extends;

	if (dwarf_getsrcfiles(cu, &files, &n)) {
		files = NULL;
		n = 0;
	}
	if (lines_make_tables(rd->u, unit, cu, files, n) || read_details(rd, &inner))
		return -1;
	extends = rd->by_gcc && lz_gdb_extends_inlined();
	if (lines_read_rows(rd->l, unit, cu, files, extends ? &rd->blocks : NULL))
		return -1;
	return lines_place_blocks(rd->u, &rd->blocks);
}

int lines_load_unit(struct lz_lines *l, uint32_t unit)
{
	struct line_unit *u = &l->units[unit];
	struct reader rd = {.l = l, .u = u};
	Dwarf_Die cu;
	int rc;

	if (u->loaded)
		return 0;
	u->loaded = true;
	if (!dwarf_offdie(l->dw, u->die, &cu))
		return lz_fail("cannot read a compilation unit: %s", dwarf_errmsg(-1));
	rc = load(&rd, unit, &cu);
	free(rd.symtab);
	lines_free_blocks(&rd.blocks);
	return rc;
}
