/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One instruction of instrumented code: where it leads, and which marker it writes. */
#ifndef LIZARD_REPLAYER_INSN_CODE_H
#define LIZARD_REPLAYER_INSN_CODE_H

#include "replayer/navigate/nav.h"

enum lz_code_kind {
	LZ_CODE_NEXT, /* to the next one */
	LZ_CODE_BRANCH,
	LZ_CODE_JUMP,
	LZ_CODE_CALL,
	LZ_CODE_RETURN,
	LZ_CODE_NONE /* no code, or nothing that completes */
};

enum lz_place_kind {
	LZ_PLACE_FOREIGN, /* not instrumented */
	LZ_PLACE_ENTRY,   /* a function's first instruction */
	LZ_PLACE_INSIDE
};

struct lz_code_insn {
	uint64_t pc;
	uint64_t next;           /* the one behind it */
	uint64_t target;         /* 0: its bytes do not tell; of a jump, then: */
	const uint64_t *targets; /* all it can have, within its function, and maybe more */
	size_t n_targets;        /* 0: not known */
	enum lz_code_kind kind;
	enum lz_place_kind to;       /* the target's */
	const struct lz_cfg_func *f; /* whose marker it writes; NULL: none */
	struct lz_module *mod;       /* ... in which file */
	uint8_t code;                /* ... which one */
	uint32_t id;
};

struct lz_insn_code;

/* The code as it is after EVENT events, where the session of NAV must be. NULL: out of memory. */
struct lz_insn_code *lz_insn_code_open(struct lz_nav *nav, uint64_t event);
void lz_insn_code_close(struct lz_insn_code *c);
/* Valid until the next call. */
const struct lz_code_insn *lz_insn_at(struct lz_insn_code *c, uint64_t pc);
enum lz_place_kind lz_insn_place(struct lz_insn_code *c, uint64_t pc);
/* Calls FN for each copy of the instruction that writes a marker: ID, or else (0) the kind CODE.
 * Returns the first result that is not 0. */
int lz_insn_sites(struct lz_insn_code *c, const struct lz_fn *fn, uint8_t code, uint32_t id,
                  int (*visit)(void *arg, const struct lz_code_insn *in), void *arg);

#endif
