/* What bs has found before, or prev. A recording does not change, so nor do they, as long as the
 * debugger passes the same signals by: who comes back to an instant has the answer at once, and
 * always the same. */
#ifndef LIZARD_REPLAYER_ANSWERS_H
#define LIZARD_REPLAYER_ANSWERS_H

#include <lizard/recording.h>

enum { LZ_ANSWERS = 1 << 12 }; /* a place for each of so many goals; the later one has it */

struct lz_answer {
	struct lz_pos goal, to; /* goal.n 0: free */
};

struct lz_answers {
	struct lz_answer *slot; /* LZ_ANSWERS of them, or NULL: none yet */
};

/* NULL: not known. Valid until the next one is kept. */
const struct lz_pos *lz_answers_find(const struct lz_answers *a, const struct lz_pos *goal);
/* Without memory for it, nothing is kept. */
void lz_answers_keep(struct lz_answers *a, const struct lz_pos *goal, const struct lz_pos *to);
void lz_answers_free(struct lz_answers *a);

#endif
