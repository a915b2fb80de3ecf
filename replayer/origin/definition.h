/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last instruction before now, of the present thread, that did something. */
#ifndef LIZARD_REPLAYER_ORIGIN_DEFINITION_H
#define LIZARD_REPLAYER_ORIGIN_DEFINITION_H

#include "replayer/program/source.h"
#include <lizard/session.h>

enum { LZ_DEFINITION_FAR = 1, LZ_DEFINITION_INTERRUPTED };

/* To right before the instruction that gave a register its value. What a call keeps by the rules of the
 * calling convention is not searched for in what was called, if it has the same value on both
 * sides. 0; LZ_DEFINITION_*; -1: the session may be elsewhere then. */
int lz_definition_go(struct lz_session *s, const struct lz_location *of);
/* To the last conditional jump, likewise. */
int lz_definition_branch(struct lz_session *s);

#endif
