/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the threads have that read a recording side by side. */
#ifndef LIZARD_REPLAYER_CREW_H
#define LIZARD_REPLAYER_CREW_H

#include "replayer/answers/asked.h"

struct lz_crew {
	void *each;
	void **arg;
	uint64_t
	    *runs; /* by the program's threads: from where on in the piece that is asked about */
};

/* SIZE zeroes for each thread that reads, in lines of the cache of its own: what else it writes to it
 * should allocate itself. W gets their number and these; one thread, if there is to
 * be one walk from the beginning to the end. -1: lz_error(); it is to be freed all the same. */
int lz_crew_make(struct lz_crew *c, const struct lz_asked *a, size_t size, struct lz_spread *w);
void lz_crew_free(struct lz_crew *c);

/* Has thread number THREAD run in the piece, before OFFSET? */
bool lz_crew_has_run(const struct lz_crew *c, uint32_t thread, uint64_t offset);

#endif
