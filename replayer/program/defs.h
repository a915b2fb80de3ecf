/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function's machine code, and which of its instructions give a register its value. Pure. */
#ifndef LIZARD_REPLAYER_DEFS_H
#define LIZARD_REPLAYER_DEFS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LZ_OP_WRITES = 16, LZ_DEFS_MAX = 128, LZ_EDGES_MAX = 1 << 14 };

struct lz_op {
	uint64_t pc, next;
	uint64_t target;  /* of a direct jump, else 0 */
	uint64_t address; /* the constant that it puts into its first operand, else 0 */
	ZydisMnemonic mnemonic;
	ZydisDecodedOperand operand[2];
	ZydisRegister written[LZ_OP_WRITES]; /* whole registers */
	bool indirect;                       /* jumps to where its operand says */
	bool leaves;                         /* never comes to the next one */
};

/* A jump, by number. */
struct lz_op_edge {
	size_t to, from;
};

/* All zero in the beginning. */
struct lz_ops {
	struct lz_op *v; /* in order of address */
	size_t n, room;
	struct lz_op_edge *edge;
	size_t n_edges, edges_room;
	size_t entry;    /* control comes in there, and nowhere else */
	uint64_t effort; /* spent on definitions: instructions looked at */
};

struct lz_defs {
	size_t v[LZ_DEFS_MAX]; /* by number */
	size_t n;
};

/* The code at START. Ranges must come in order of address. False: no memory, or not code alone. */
bool lz_ops_add(struct lz_ops *o, const uint8_t *code, uint64_t start, size_t len);
/* When all are there: control comes in at ENTRY. Makes the edges of direct jumps. False: they
 * lead into instructions, are too many, or there is no instruction at ENTRY. */
bool lz_ops_link(struct lz_ops *o, uint64_t entry);
void lz_ops_free(struct lz_ops *o);

/* Its number; o->n: none begins there. */
size_t lz_ops_at(const struct lz_ops *o, uint64_t pc);
/* Does one end there? */
bool lz_ops_end(const struct lz_ops *o, uint64_t pc);
/* 1: it is new; 0: it was there; -1: no memory, or LZ_EDGES_MAX are there. */
int lz_ops_edge(struct lz_ops *o, size_t from, size_t to);
/* The definitions of R, a whole register, that reach the instruction number I along the edges there
 * are. False: R may have been set before the function was entered, there are too many, it was too
 * much effort, or no memory.
 *
 * Source: Aho, Lam, Sethi, Ullman, "Compilers", 2nd edition, 9.2.4 (reaching definitions), for
 * one use, from there backwards. */
bool lz_ops_defs(struct lz_ops *o, size_t i, ZydisRegister r, struct lz_defs *d);

ZydisRegister lz_whole_register(ZydisRegister r);

#endif
