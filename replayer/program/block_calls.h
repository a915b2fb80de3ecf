/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine code of a function's block may call. */
#ifndef LIZARD_REPLAYER_BLOCK_CALLS_H
#define LIZARD_REPLAYER_BLOCK_CALLS_H

#include "replayer/program/modules.h"

/* How a block may lead to a function's entry, the surest last. */
enum lz_block_call {
	LZ_CALLS_NOT,
	LZ_CALLS_FOREIGN,  /* it calls code without markers, which may call back */
	LZ_CALLS_INDIRECT, /* by a pointer */
	LZ_CALLS_DIRECT    /* it names the function */
};

/* Block NODE of F, a function of MOD; CALLEE: a function of the same file or not. */
enum lz_block_call lz_block_calls(struct lz_modules *m, struct lz_module *mod,
                                  const struct lz_cfg_func *f, uint32_t node,
                                  const struct lz_cfg_func *callee);

#endif
