/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running through a range of code. */
#ifndef LIZARD_REPLAYER_RANGE_H
#define LIZARD_REPLAYER_RANGE_H

#include <lizard/session.h>

/* Forwards through a loop in [start, end), a row of the line table, at full speed. A signal ends
 * it, as it ends steps. 1: steps must go on, from wherever it is now. */
int lz_session_run_range(struct lz_session *s, uint64_t start, uint64_t end, struct lz_stop *stop);

#endif
