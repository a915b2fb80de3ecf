/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which pages of shared memory exist, as the kernel tells the program itself. It is asked where nobody
 * may open the memory in /proc/PID/map_files, so that its holes need not be read and filled. */
#ifndef LIZARD_TRACER_RESIDENT_H
#define LIZARD_TRACER_RESIDENT_H

#include "tracer/state/tracer.h"

struct lz_resident; /* what is known of one mapping */

/* What exists now, of all such mappings; where it cannot be asked nothing is known any more. */
void lz_resident_look(struct lz_tracer *t);
/* The same if A is one of them. Whoever logs what is there, and says of the rest that it is empty, has to ask:
 * what the program has touched since need not stand in its page map any more. */
void lz_resident_look_at(struct lz_tracer *t, const struct lz_area *a);
/* What is known of the mapping E: that of the last look, and what the program has touched since. NULL:
 * nothing. Valid until the next look. */
const struct lz_resident *lz_resident_of(const struct lz_tracer *t, const struct lz_maps_entry *e);
/* The first stretch of pages that exist, as of the offset AT in the mapping: *FROM to *TO; both END if
 * there is none before it. */
void lz_resident_next(const struct lz_resident *r, uint64_t at, uint64_t end, uint64_t *from,
                      uint64_t *to);
void lz_resident_forget(struct lz_shared *s);

#endif
