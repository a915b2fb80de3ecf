/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plugin says about a program: read from the .lizard.* sections of an
 * ELF file with libelf. Addresses are link-time addresses: add the load bias.
 * The sections' grammar stands in include/lizard/cfg_format.h, beside the
 * constants that the plugin writes them with.
 *
 * An ELF file is untrusted: every count, index and offset is checked. */
#ifndef LIZARD_CFG_H
#define LIZARD_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <lizard/graph.h>

struct lz_cfg_block {
	uint32_t first_line, n_lines; /* slice of lz_cfg_func.lines */
	const uint32_t *pre, *post;   /* sorted ids, see graph.h */
	uint32_t n_pre, n_post;
};

struct lz_cfg_line {
	uint32_t file; /* index for lz_cfg_file_name() */
	uint32_t line;
};

/* The function as its source has it, in which lines and branches are counted: cfg_format.h. */
struct lz_source_block {
	uint32_t node;                /* or LZ_CFG_NO_NODE */
	uint32_t first_line, n_lines; /* slice of lz_cfg_func.lines */
	const char *callee;           /* "": not known; NULL: it calls nobody */
};

struct lz_source_arc {
	uint32_t src, dst;
	uint32_t flags;             /* enum lz_arc_flags */
	uint32_t first_ref, n_refs; /* slice of refs */
};

struct lz_source_graph {
	uint32_t n_blocks, n_arcs, n_refs;
	struct lz_source_block *blocks;
	struct lz_source_arc *arcs;
	uint32_t *refs; /* edges of the function's graph */
};

/* A variable, and the nodes that may store to it: cfg_format.h. */
struct lz_assigned {
	const char *name;
	uint32_t flags; /* enum lz_var_flags */
	const uint32_t *nodes;
	uint32_t n;
};

struct lz_assigns {
	uint32_t n_vars, n_nodes;
	struct lz_assigned *vars;
	uint32_t *nodes; /* what the variables' point into */
};

enum lz_cfg_func_flags {
	LZ_FN_OPTIMIZED = 1, /* built with -O1 or more, -Og or -Os */
	LZ_FN_LANDING = 2,   /* has landing sites */
	LZ_FN_LOCAL = 4      /* neither saves nor restores r15 */
};

struct lz_cfg_func {
	/* link-time address of the entry label: what ENTER carries the low 32 bits of */
	uint64_t entry;
	const char *name; /* as the linker sees it */
	const char *file; /* source file */
	uint32_t line;    /* of the definition */
	uint32_t flags;
	uint32_t n_markers;
	struct lz_graph graph;       /* with markers placed */
	struct lz_cfg_block *blocks; /* [graph.n_nodes] */
	struct lz_cfg_line *lines;
	struct lz_source_graph *source; /* NULL: none, as with optimization */
	struct lz_assigns *assigns;     /* NULL: not known, as of older lizard-cc's */
	uint32_t *words;                /* the reader's: what pre and post point into */
	uint32_t n_words;
};

/* A marker instruction (the one that stores the code byte). */
struct lz_cfg_site {
	uint64_t addr;
	uint32_t func; /* index */
	uint32_t id;   /* edge or node marker id, 0 for the kinds below */
	uint8_t code;  /* code byte that it stores (LZ_WIDE.. included) */
};

/* A copy of a basic block in the machine code starts here. */
struct lz_cfg_label {
	uint64_t addr;
	uint32_t func, block;
};

struct lz_cfg;

/* Opens PATH. A file without .lizard sections gives an object with no
 * functions. NULL: lz_error() says why (unknown version: both are named). */
struct lz_cfg *lz_cfg_open(const char *path);
void lz_cfg_close(struct lz_cfg *cfg);

size_t lz_cfg_n_funcs(const struct lz_cfg *cfg);
const struct lz_cfg_func *lz_cfg_func(const struct lz_cfg *cfg, size_t i);
/* By entry address, exact; NULL if none. */
const struct lz_cfg_func *lz_cfg_func_at(const struct lz_cfg *cfg, uint64_t entry);
/* May code that no record tells of store to the variable? NAME is the linker's. */
bool lz_cfg_taken(const struct lz_cfg *cfg, const char *name);
const char *lz_cfg_file_name(const struct lz_cfg *cfg, uint32_t file);

/* Sorted by address. */
const struct lz_cfg_site *lz_cfg_sites(const struct lz_cfg *cfg, size_t *n);
/* The first at ADDR or behind it; *left: how many there are from it on. */
const struct lz_cfg_site *lz_cfg_sites_from(const struct lz_cfg *cfg, uint64_t addr, size_t *left);
const struct lz_cfg_label *lz_cfg_labels(const struct lz_cfg *cfg, size_t *n);
/* The last label at or before ADDR within the same function; NULL if none. */
const struct lz_cfg_label *lz_cfg_label_before(const struct lz_cfg *cfg, uint64_t addr);

#endif
