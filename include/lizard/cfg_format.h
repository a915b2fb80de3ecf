/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plugin writes into the non-allocated ELF sections ".lizard" and
 * ".lizard.*" and the CFG reader takes out of them. Little-endian; all counts
 * are untrusted.
 *
 * section  = { record }                 records are 8-aligned; zero words
 *                                       between records are padding
 * record   = header rows body           header.size bytes in all
 * header   = struct lz_cfg_header       (LZ_CFG_HEADER_SIZE bytes)
 * rows     = { struct lz_cfg_row }      header.rows_size bytes, in the order of
 *                                       the machine code
 * body     = nodes edges lines words strings [source] [assigns]
 * nodes    = struct lz_cfg_node[n_nodes]
 * edges    = struct lz_cfg_edge[n_edges]
 * lines    = struct lz_cfg_line_ref[n_lines]
 * words    = u32[n_words]               marker sets: n, id[n], ascending;
 *                                       n_words is even
 * strings  = char[strings_size]         NUL-terminated; offset 0 is the linker's
 *                                       name of the function; padded to 8
 * source   = struct lz_cfg_source blocks arcs refs      from version 2 on
 * blocks   = struct lz_cfg_source_block[n_blocks]
 * arcs     = struct lz_cfg_source_arc[n_arcs]
 * refs     = u32[n_refs]                indices into edges; n_refs is even
 * assigns  = struct lz_cfg_assigns vars nodes           from version 3 on
 * vars     = struct lz_cfg_assigned[n_vars]
 * nodes    = u32[n_nodes]               n_nodes is even
 *
 * In version 3 a source graph without blocks stands for none.
 *
 * The source graph is the function before `switch` was lowered and before blocks
 * without code were dropped. Its blocks end behind each call that might not
 * return. In it lines and branches are counted, as gcov does. What is known of
 * its counts is said by nodes and edges. The sums of what comes into a block and
 * what leaves it tell the others.
 *
 * The assigns say which blocks may store to which named variables. They hold each variable that the
 * function's own statements store to and that nobody has the address of; of local variables also those
 * that are not known so well, with a flag. Others are not there. In optimized code a store may have
 * moved to another block of the function, and one of its blocks is named.
 *
 * The section ".lizard_taken" has the linker's names of variables that other code may store to, each
 * NUL-terminated: the address is taken somewhere, or a function without a record names it.
 *
 * The records of one text section's functions are in a section piece of their
 * own, tied (SHF_LINK_ORDER and, for COMDAT, by the group) to that section, so
 * that a linker drops both or neither. */
#ifndef LIZARD_CFG_FORMAT_H
#define LIZARD_CFG_FORMAT_H

#include <stdint.h>

#define LZ_CFG_SECTION ".lizard"
#define LZ_CFG_TAKEN_SECTION ".lizard_taken"

enum {
	LZ_CFG_MAGIC = 0x464e5a4c, /* "LZNF" */
	LZ_CFG_VERSION = 1,
	LZ_CFG_VERSION_SOURCE = 2, /* with a source graph */
	LZ_CFG_VERSION_ASSIGNS = 3 /* with assigns, too */
};

struct lz_cfg_header {
	uint32_t magic;
	uint16_t version;
	uint16_t flags;     /* enum lz_cfg_func_flags */
	uint64_t size;      /* of the record */
	uint64_t entry;     /* relocated: address of the function's first byte */
	uint64_t rows_size; /* in bytes */
	uint32_t line;      /* of the definition, 0 if unknown */
	uint32_t file;      /* string offset */
	uint32_t n_markers;
	uint32_t n_nodes, entry_node, exit_node;
	uint32_t n_edges;
	uint32_t n_lines;
	uint32_t n_words;
	uint32_t strings_size; /* padding included */
};

enum lz_cfg_row_kind { LZ_ROW_LABEL = 1, LZ_ROW_SITE = 2 };

struct lz_cfg_row {
	/* relocated: of the block, or of the instruction that stores the code byte */
	uint64_t addr;
	uint32_t id;  /* label: node; site: edge or node marker id, else 0 */
	uint8_t kind; /* enum lz_cfg_row_kind */
	uint8_t code; /* site: the code byte */
	uint16_t zero;
};

struct lz_cfg_node {
	uint32_t marker; /* id of the node's own marker, or 0 */
	uint32_t flags;  /* enum lz_node_flags */
	uint32_t first_line, n_lines;
	/* indices into words, LZ_CFG_NO_SET: to be computed from the graph */
	uint32_t pre, post;
};
#define LZ_CFG_NO_SET 0xFFFFFFFFu

struct lz_cfg_edge {
	uint32_t src, dst;
	uint32_t marker;     /* id or 0 */
	uint32_t unmarkable; /* 0 or 1 */
	uint64_t weight;
};

struct lz_cfg_line_ref {
	uint32_t file; /* string offset */
	uint32_t line;
};

/* Block 0 is the beginning, block 1 the end. */
struct lz_cfg_source {
	uint32_t n_blocks, n_arcs, n_refs;
	uint32_t zero;
};

struct lz_cfg_source_block {
	uint32_t node; /* control comes to it as often as to that node, or LZ_CFG_NO_NODE */
	uint32_t first_line, n_lines;
	uint32_t callee; /* string offset: whom its last call calls, "": not known */
};
#define LZ_CFG_NO_NODE 0xFFFFFFFFu
#define LZ_CFG_NO_CALLEE 0xFFFFFFFFu

enum lz_arc_flags {
	LZ_ARC_FAKE = 1, /* control leaves, or enters, in no usual way */
	LZ_ARC_CALL = 2, /* ... because a call has not returned */
	LZ_ARC_THROW = 4 /* an exception */
};

struct lz_cfg_source_arc {
	uint32_t src, dst;
	uint32_t flags; /* enum lz_arc_flags */
	/* of the edges that it has become; none: not known */
	uint32_t first_ref, n_refs;
	uint32_t zero;
};

struct lz_cfg_assigns {
	uint32_t n_vars, n_nodes;
};

enum lz_var_flags {
	LZ_VAR_LOCAL = 1,   /* in the function's frame */
	LZ_VAR_ESCAPES = 2, /* other functions may store to it */
	LZ_VAR_SCALAR = 4   /* no code has an address of a part of it */
};

struct lz_cfg_assigned {
	uint32_t name;     /* string offset: the linker's, of a local one the source's */
	uint32_t flags;    /* enum lz_var_flags */
	uint32_t first, n; /* slice of nodes; the slices lie one behind the other */
};

enum { LZ_CFG_HEADER_SIZE = 72 };

#endif
