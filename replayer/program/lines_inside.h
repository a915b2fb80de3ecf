/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lines.h share. */
#ifndef LIZARD_REPLAYER_LINES_INT_H
#define LIZARD_REPLAYER_LINES_INT_H

#include <elfutils/libdwfl.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include "replayer/program/lines.h"

struct line_row {
	uint64_t pc;
	uint32_t line; /* 0: the end of what came before */
	bool is_stmt;
};

/* The rows of one file. */
struct line_table {
	const char *file;
	uint32_t id;
	struct line_row *rows; /* sorted */
	size_t n_rows, cap_rows;
};

struct line_func {
	uint64_t start, end;
	const char *name;
	Dwarf_Die die;
};

struct line_inline {
	uint64_t entry, start, end;
	uint64_t entry_pc; /* 0: none is named */
	uint64_t die;      /* whose part it is */
	Dwarf_Die of;      /* the same */
	uint32_t block, call_line, call_symtab;
};

/* A function's body, an inlined call, or a scope within them. */
struct line_block {
	uint32_t around; /* the block that it is in */
	bool function, inlined;
	bool scope; /* GDB has a block for it, too */
	struct line_inline
	    call;     /* of an inlined one, all but its extent; of a function, its entry */
	size_t piece; /* 1 + index of its last one in the unit's inlines, 0: none yet */
	bool widened; /* it was empty, but for GDB */
	uint64_t low, high;
	size_t first, n;   /* its parts */
	uint32_t finished; /* how many were before */
};
#define LINES_NO_BLOCK UINT32_MAX

/* Where a part of an inlined call ends. */
struct line_end {
	uint64_t end;
	size_t order;
	uint32_t block;
};

struct line_blocks {
	struct line_block *v; /* outer before inner */
	uint32_t n, cap, n_finished;
	struct lz_part *parts;
	size_t n_parts, cap_parts;
	struct line_end *ends; /* first those of blocks that were finished first */
	size_t n_ends, cap_ends;
};

/* Code of the function that begins at ENTRY. */
struct line_body {
	uint64_t start, end, entry;
};

/* Code whose innermost block in GDB is number BLOCK. */
struct line_scope {
	uint64_t start, end;
	uint32_t block;
};

struct line_unit {
	Dwarf_Off die;
	bool loaded;
	struct line_table *tables; /* in GDB's order */
	size_t n_tables, cap_tables;
	struct line_func *funcs; /* sorted */
	size_t n_funcs, cap_funcs;
	struct line_inline *inlines; /* outer before inner */
	size_t n_inlines, cap_inlines;
	struct line_body *bodies; /* sorted */
	size_t n_bodies, cap_bodies;
	struct line_scope *scopes; /* sorted */
	size_t n_scopes, cap_scopes;
};

struct unit_range {
	uint64_t start, end;
	uint32_t unit;
};

struct line_sym {
	uint64_t addr, size, limit; /* limit: the section's end */
	const char *name;
};

/* Stubs of a linkage table, of STUB bytes each. */
struct plt_section {
	uint64_t start, end, stub;
	bool counts;
};

struct lz_lines {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Dwarf *dw;
	Dwarf_Addr dw_bias;
	struct line_unit *units;
	size_t n_units, cap_units;
	struct unit_range *ranges; /* sorted */
	size_t n_ranges, cap_ranges;
	struct line_sym *syms; /* sorted, one per address */
	size_t n_syms, cap_syms;
	bool syms_read;
	struct plt_section plt[8];
	size_t n_plt;
};

/* One more element of a growing array; NULL when out of memory. */
#define LINES_PUSH(array, n, cap)                                                                  \
	(lz_reserve(array, cap, (n) + 1) < 0 && lz_fail("out of memory for line tables")           \
	     ? NULL                                                                                \
	     : &(array)[(n)++])

/* Reads rows, functions and inlined calls of unit number U. */
int lines_load_unit(struct lz_lines *l, uint32_t u);
/* Of these the tables, from the unit's list of files. */
int lines_make_tables(struct line_unit *u, uint32_t unit, Dwarf_Die *cu, Dwarf_Files *files,
                      size_t n_files);
/* And their rows. BLOCKS: ends of inlined calls move as GDB moves them; NULL: they do not. */
int lines_read_rows(struct lz_lines *l, uint32_t unit, Dwarf_Die *cu, Dwarf_Files *files,
                    struct line_blocks *blocks);
/* With N parts. LINES_NO_BLOCK: out of memory. */
uint32_t lines_add_block(struct line_blocks *b, const struct line_block *block,
                         const struct lz_part *part, size_t n);
/* All blocks within it have been read. */
int lines_finish_block(struct line_blocks *b, uint32_t number);
/* The block around, of those that GDB has. */
uint32_t lines_outer_block(const struct line_blocks *b, uint32_t block);
/* Writes U's inlined calls and bodies. Called once. */
int lines_place_blocks(struct line_unit *u, struct line_blocks *b);
void lines_free_blocks(struct line_blocks *b);

/* Once all blocks are finished: makes the following possible. */
void lines_sort_ends(struct line_blocks *b);
/* A statement is at END. The next row is at NEXT, of LINE, and begins none: an inlined call that
 * ends at END and was made in LINE goes on to NEXT. */
void lines_extend_inlined(struct line_blocks *b, uint64_t end, uint64_t next, uint32_t line);

/* The unit that has ADDR, read if it was not; NULL: none. */
struct line_unit *lines_unit_at(struct lz_lines *l, uint64_t addr);
/* Number WHICH of the inlined calls around ADDR, the outermost first; NULL: there are not so many. */
const struct line_inline *lines_inline_at(const struct line_unit *u, uint64_t addr, size_t which);
/* The table of FILE, by its full name; NULL: none. */
struct line_table *lines_table(const struct line_unit *u, const char *file);
/* Sets *SAL to the row that holds ADDR, if there is one. */
void lines_find_row(const struct line_unit *u, uint64_t addr, struct lz_sal *sal);

/* The code symbol that covers ADDR: by its size, or up to the next symbol if it has none. */
bool lines_symbol(struct lz_lines *l, uint64_t addr, struct lz_range *out);

#endif
