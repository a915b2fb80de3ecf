/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments and return values of activations: GDB goes to each and reads them. */
#ifndef LIZARD_REPLAYER_VISITS_H
#define LIZARD_REPLAYER_VISITS_H

#include "replayer/answers/activations.h"
#include <jansson.h>

/* What was seen of ONE: {"args": [{"name": ..., "value": ...}], "value": what it returned or null};
 * {"error": why} instead of either where it could not be read. Non-zero ends it. */
typedef int lz_visit_fn(void *arg, const struct lz_activation *one, json_t *seen);

/* Visits the N activations V, in that order. 0, also if a signal has ended it (A->partial); else
 * what FN returned; -1: lz_error(). */
int lz_visits(struct lz_asked *a, const struct lz_activation *v, size_t n, lz_visit_fn *fn,
              void *arg);

#endif
