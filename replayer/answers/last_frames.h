/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the functions are that have not returned when a recording ends. Markers alone do not tell
 * in which block a call was made that never came back, as that of exit(). So the last instant is
 * replayed, and its frames are unwound. */
#ifndef LIZARD_REPLAYER_LAST_FRAMES_H
#define LIZARD_REPLAYER_LAST_FRAMES_H

#include "replayer/answers/asked.h"

struct lz_last_frame {
	uint32_t fn, node;
	uint64_t
	    pc; /* link-time; EXACT: the instruction there comes next, else it is behind a call */
	bool exact;
};

/* Of one thread that is there then, innermost first. */
struct lz_last_frames {
	uint32_t tid;
	struct lz_last_frame *v;
	size_t n, room;
};

/* malloced, *N of them; NULL: lz_error() says why they are not known. */
struct lz_last_frames *lz_last_frames_find(struct lz_asked *a, uint32_t *n);
/* Those of thread TID; NULL: not known. */
const struct lz_last_frames *lz_last_frames_of(const struct lz_last_frames *f, uint32_t n,
                                               uint32_t tid);
void lz_last_frames_free(struct lz_last_frames *f, uint32_t n);

#endif
