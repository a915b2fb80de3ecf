/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bs has found before, or prev. A recording does not change, so nor do they, as long as the
 * debugger passes the same signals by: who comes back to an instant has the answer at once, and
 * always the same. */
#ifndef LIZARD_REPLAYER_RESULT_CACHE_H
#define LIZARD_REPLAYER_RESULT_CACHE_H

#include <lizard/recording.h>

enum { LZ_RESULTS = 1 << 12 }; /* a place for each of so many goals; the later one has it */

struct lz_result {
	struct lz_pos goal, to; /* goal.n 0: free */
};

struct lz_results {
	struct lz_result *slot; /* LZ_RESULTS of them, or NULL: none yet */
};

/* NULL: not known. Valid until the next one is kept. */
const struct lz_pos *lz_results_find(const struct lz_results *a, const struct lz_pos *goal);
/* Without memory for it, nothing is kept. */
void lz_results_keep(struct lz_results *a, const struct lz_pos *goal, const struct lz_pos *to);
void lz_results_free(struct lz_results *a);

#endif
