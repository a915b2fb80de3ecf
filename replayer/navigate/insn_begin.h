/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where instructions begin. */
#ifndef LIZARD_REPLAYER_INSN_BEGIN_H
#define LIZARD_REPLAYER_INSN_BEGIN_H

#include "replayer/navigate/nav.h"

/* Does an instruction begin at ADDR at the present instant? True as well if nobody can tell: where
 * no function is known, or one with data in its code. */
bool lz_insn_begins(struct lz_nav *nav, uint64_t addr);

#endif
