/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that did not return, as those of exit() or longjmp(): which one of a function it was. The
 * lines behind it have not run. */
#ifndef LIZARD_REPLAYER_LOST_CALLS_H
#define LIZARD_REPLAYER_LOST_CALLS_H

#include "replayer/coverage/counts.h"

struct lz_lost_calls_finder;

/* NULL: out of memory. */
struct lz_lost_calls_finder *lz_lost_calls_open(struct lz_asked *a, struct lz_counts *c);
void lz_lost_calls_close(struct lz_lost_calls_finder *l);

/* In NODE of function FN a call to CALLEE (LZ_FN_NONE: to none that is known) has not returned.
 * LINE: its line if that is known, else 0. */
int lz_lost_calls_add_in(struct lz_lost_calls_finder *l, uint32_t fn, uint32_t node,
                         uint32_t callee, uint32_t line);
/* TIMES such calls were made behind marker LAST of FN: counts the way to them. */
int lz_lost_calls_add_behind(struct lz_lost_calls_finder *l, uint32_t fn, uint32_t last,
                             uint32_t callee, uint64_t times);

#endif
