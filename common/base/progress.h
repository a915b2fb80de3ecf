/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far long work is: shown on a terminal, on stderr, from its second second on. */
#ifndef LIZARD_PROGRESS_H
#define LIZARD_PROGRESS_H

#include <stdint.h>

struct lz_progress {
	const char *what; /* "unpacking" */
	uint64_t total, begun_ms, shown_ms;
};

/* TOTAL 0: not known, nothing is shown. LZ_PROGRESS_TIME: nobody can know it, seconds are shown. */
#define LZ_PROGRESS_TIME UINT64_MAX
void lz_progress_begin(struct lz_progress *p, const char *what, uint64_t total);
void lz_progress_show(struct lz_progress *p, uint64_t done);
/* Takes what was shown away again. */
void lz_progress_end(struct lz_progress *p);

#endif
