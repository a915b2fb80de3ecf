/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plugin's files share. Needs GCC's headers (gcc.h) before it. */
#ifndef LIZARD_PLUGIN_H
#define LIZARD_PLUGIN_H

extern "C" {
#include <lizard/graph.h>
#include <lizard/cfg.h>
#include <lizard/cfg_format.h>
#include <lizard/marker.h>
}

/* Plugin arguments. */
struct lz_options {
	bool check; /* checking mode: each marker verifies r15 */
};
extern struct lz_options lz_options;

/* How a function treats r15, the marker pointer. */
enum lz_convention {
	LZ_CONV_OUT,    /* not instrumented: never touches it */
	LZ_CONV_PUBLIC, /* saves it, loads it from __lizard_pos, stores it back */
	LZ_CONV_LOCAL   /* is entered and left with it valid */
};

/* conventions.cc: decided once all IPA passes are done. */
void lz_pin_r15_users(void *gcc_data, void *user_data);
void lz_decide_conventions(void *gcc_data, void *user_data);
enum lz_convention lz_convention_of(tree fndecl);

/* calls.cc: what a statement means for r15. */
enum lz_call_kind {
	LZ_CALL_NONE,   /* no call, or one that can't reach markers or the kernel */
	LZ_CALL_LOCAL,  /* r15 must be valid before, is valid after */
	LZ_CALL_FOREIGN /* __lizard_pos must be stored before, r15 loaded after */
};
enum lz_call_kind lz_stmt_kind(gimple *stmt);
bool lz_name_is_exempt(const char *name);
/* The statement returns (or may resume) more than once, or elsewhere. */
bool lz_stmt_is_landing_call(gimple *stmt);
/* The statement names r15: in an asm's text, clobbers or operands. */
bool lz_stmt_names_r15(gimple *stmt);

/* asm.cc: the assembler text. */
gimple *lz_asm_label(unsigned node);
gimple *lz_asm_edge(unsigned id);
gimple *lz_asm_enter(enum lz_convention conv);
gimple *lz_asm_exit(enum lz_convention conv, unsigned code);
gimple *lz_asm_landing(tree frame);
gimple *lz_asm_store(void);
gimple *lz_asm_load(void);

/* record.cc: the function's record in the .lizard section. */
struct lz_line {
	const char *file;
	unsigned line;
};
/* Of the source graph: see lizard/cfg_format.h. */
struct lz_block_record {
	unsigned node, first_line, n_lines;
	const char *callee; /* "": not known, NULL: none */
};
struct lz_arc_record {
	unsigned src, dst, flags, first_ref, n_refs;
};
/* A variable that some blocks may assign. */
struct lz_var_record {
	tree decl;
	unsigned flags; /* enum lz_var_flags */
	auto_vec<unsigned> nodes;
};
struct lz_function {
	struct lz_graph graph;
	auto_vec<lz_block_record> source_blocks; /* none: it has no source graph */
	auto_vec<lz_arc_record> source_arcs;
	auto_vec<unsigned> refs;
	auto_vec<lz_var_record *> vars;
	auto_vec<lz_line> lines;
	auto_vec<unsigned> first_line, n_lines; /* by node */
	unsigned flags;
	unsigned n_markers;

	~lz_function()
	{
		for (struct lz_var_record *v : vars)
			delete v;
	}
};
/* Keeps it until the function's code is written. */
void lz_prepare_record(const struct lz_function *f);

/* pieces.cc: the section piece that the current function's record belongs to. */
struct lz_piece {
	const char *name;
	/* of COMDAT, or NULL */
	const char *group;
	/* a symbol in the code that it belongs to: the same for all functions of one text
	 * section */
	const char *first;
};
const struct lz_piece *lz_piece_of(tree fndecl);

/* blocks.cc: nodes, weights and lines of the current function. */
struct lz_blocks {
	auto_vec<basic_block> of_node;
	auto_vec<unsigned> node_of; /* by block index */
	auto_vec<edge> gcc_edges;   /* parallel to graph.edges */
	auto_vec<unsigned char> node_flags;
	auto_vec<unsigned> node_marker;
	auto_vec<lz_edge> edges;
};
bool lz_block_is_dispatcher(basic_block bb);
bool lz_block_lands_at_start(basic_block bb);
void lz_collect_blocks(struct lz_blocks *b, struct lz_function *f);

/* assigns.cc: which variables the blocks of the current function may assign. */
void lz_collect_assigns(const struct lz_blocks *b, struct lz_function *f);
/* The current function has no record: nobody knows when it stores to variables. */
void lz_note_foreign_stores(void);
/* Variables that other code may store to: noted once all IPA passes are done, written at the end. */
void lz_note_taken_variables(void *gcc_data, void *user_data);
void lz_write_taken_variables(void *gcc_data, void *user_data);

/* source.cc: the graph of the current function in which lines are counted. */
void lz_link_source(const struct lz_blocks *b, struct lz_function *f);
void lz_keep_source(void *gcc_data, void *user_data);

/* layout.cc: E's probability was not measured, but guessed at *PERCENT. */
bool lz_edge_is_guess(edge e, int *percent);
enum { LZ_RARE_PERCENT = 20 }; /* guesses below are mostly right, those of 20 to 50 are not */
/* Makes GCC put this block, which was made for a marker on an edge, in line, unless it is believed
 * to be rare or its profile was measured. */
void lz_keep_in_line(basic_block marker);

/* scopes.cc: debug information takes MARKER, which is about to be put on E, for code of the line
 * and the inlined call that E begins in. */
void lz_place_marker(gimple *marker, edge e);

/* instrument.cc, regs.cc: the passes. */
void lz_register_passes(const char *plugin_name);
/* The current function needs r15 saved by its prologue. */
extern bool lz_save_r15;

/* The name of a function or a variable as the assembler sees it. */
const char *lz_asm_name(tree decl);

#endif
