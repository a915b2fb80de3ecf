/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine code of an instrumented function as a graph of instructions, read from its file. All
 * addresses are link-time addresses. */
#ifndef LIZARD_REPLAYER_FN_CODE_H
#define LIZARD_REPLAYER_FN_CODE_H

#include "replayer/program/modules.h"

#define LZ_NO_INSN UINT32_MAX

struct lz_fn_insn {
	uint64_t pc;
	uint64_t callee;             /* of a direct call, else 0 */
	uint32_t next, target;       /* by number: behind it, and where it jumps; LZ_NO_INSN */
	uint32_t targets, n_targets; /* of an indirect jump: a slice of lz_fn_code.targets */
	/* the marker that it writes, or NULL; not the LANDING behind ENTER, which belongs to that */
	const struct lz_cfg_site *site;
	bool call;
	bool ends;   /* that never returns */
	bool leaves; /* returns, or jumps out of the function */
	bool lost;   /* where it leads is not known */
};

struct lz_fn_code {
	const struct lz_cfg *cfg; /* of its file */
	const struct lz_cfg_func *f;
	struct lz_fn_insn *v; /* sorted by address */
	uint32_t n;
	uint32_t *targets;
	size_t n_targets, room;
};

/* NULL: lz_error(). */
struct lz_fn_code *lz_fn_code_read(struct lz_modules *m, struct lz_module *mod,
                                   const struct lz_cfg_func *f);
void lz_fn_code_free(struct lz_fn_code *c);
/* The instruction that begins at PC; LZ_NO_INSN. */
uint32_t lz_fn_code_at(const struct lz_fn_code *c, uint64_t pc);

#endif
