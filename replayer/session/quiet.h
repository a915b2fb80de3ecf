/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stretches in which a run back has found nothing, so that the next one need not run them again. A
 * recording does not change: what is known stays true for the same breakpoints and watchpoints. */
#ifndef LIZARD_REPLAYER_QUIET_H
#define LIZARD_REPLAYER_QUIET_H

#include "replayer/session/gap_start.h"
#include <stdbool.h>

struct lz_quiet {
	uint64_t key; /* what was looked for */
	struct lz_gap_start from, to;
	bool any;
};

enum { LZ_QUIETS = 4 };

struct lz_quiets {
	struct lz_quiet v[LZ_QUIETS];
	unsigned next; /* to be replaced */
};

struct lz_session;

/* That of the session's breakpoints and watchpoints; perhaps an empty one. */
struct lz_quiet *lz_quiet_of(struct lz_session *s);
/* Does END lie behind its beginning, and not behind its end? */
bool lz_quiet_covers(const struct lz_quiet *q, struct lz_gap_start end);
/* Nothing is there. Of two stretches that do not touch, the new one is kept. */
void lz_quiet_add(struct lz_quiet *q, struct lz_gap_start from, struct lz_gap_start to);

#endif
