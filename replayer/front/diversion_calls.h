/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a diversion's program gets from its system calls. */
#ifndef LZ_REPLAYER_DIVERSION_CALLS_H
#define LZ_REPLAYER_DIVERSION_CALLS_H

#include "replayer/engine/engine.h"

/* The call in R, whose arguments are a stranger's. Memory is mapped in the copy, apart from the stub. Questions about
 * the world are answered by the replayer, which the copy cannot ask. 1: *RESULT; 0: it is another call; -1: failed. */
int lz_diversion_call(struct lz_engine *e, const struct user_regs_struct *r, int64_t *result);

#endif
