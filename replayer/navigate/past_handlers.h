/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk that begins in a signal's handler makes stops that a walk from outside does not make: `step`
 * goes over handlers. */
#ifndef LIZARD_REPLAYER_PAST_HANDLERS_H
#define LIZARD_REPLAYER_PAST_HANDLERS_H

#include "replayer/navigate/nav.h"

/* Is FROM in a handler that has returned before the goal? 1: it is, and *BEGIN is the stream offset at
 * which the signal came. */
bool lz_in_past_handler(struct lz_nav *nav, const struct lz_pos *from, uint64_t *begin);

#endif
