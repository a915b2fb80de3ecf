/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long work that somebody waits for. Its progress is shown. A signal that would end the process
 * (Ctrl-C) ends the work first, so that nothing half done is left behind. */
#ifndef LIZARD_WORK_H
#define LIZARD_WORK_H

#include <stdint.h>
#include <common/base/progress.h>

struct lz_work {
	struct lz_progress progress;
	uint64_t done, looked;
};

/* TOTAL: in any unit; 0 if it is not known. One can be within another. */
void lz_work_begin(struct lz_work *w, const char *what, uint64_t total);
/* N more are done: cheap, the clock is looked at a thousand times in all, or if N is 0. -1: a
 * signal has come, errno is EINTR. W may be NULL: never. */
int lz_work_done(struct lz_work *w, uint64_t n);
/* A signal that has come takes its old effect now. */
void lz_work_end(struct lz_work *w);

#endif
