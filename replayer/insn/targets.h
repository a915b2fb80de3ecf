/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The targets of the indirect jumps in a session's code. */
#ifndef LIZARD_REPLAYER_INSN_TARGETS_H
#define LIZARD_REPLAYER_INSN_TARGETS_H

#include "replayer/navigate/nav.h"

struct lz_insn_targets;

/* For the code as it is after EVENT events, where the session of NAV must be. NULL: out of
 * memory. */
struct lz_insn_targets *lz_insn_targets_open(struct lz_nav *nav, uint64_t event);
void lz_insn_targets_close(struct lz_insn_targets *t);
/* All within its function that the one at PC can have, and maybe more; T's. Returns how many; 0:
 * not known. A tail call is not told from others. */
size_t lz_insn_targets(struct lz_insn_targets *t, uint64_t pc, const uint64_t **targets);

#endif
