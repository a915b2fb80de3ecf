/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ran, instruction by instruction, from the markers. */
#ifndef LIZARD_REPLAYER_INSN_HISTORY_H
#define LIZARD_REPLAYER_INSN_HISTORY_H

#include <lizard/session.h>

/* The addresses of the N instructions before or after the present one, the nearest first, as far
 * as the markers tell without running anything: those of the present turn of the present thread,
 * with no event between. 0; 1: they do not tell; -1. */
int lz_insn_history(struct lz_session *s, enum lz_direction d, size_t n, uint64_t *addrs);

#endif
