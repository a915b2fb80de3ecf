/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of a followed process's recording, made before there is such a process: to make files takes
 * a tenth of a millisecond, or several, and nobody waits for it then. */
#ifndef LIZARD_TRACER_AHEAD_H
#define LIZARD_TRACER_AHEAD_H

#include <lizard/recording.h>

/* In the first tracer, before the spawner is forked. */
void lz_ahead_begin(void);
/* ROOT is the run's recording. Each followed process will have one of its own. */
void lz_ahead_root(const char *root);

/* In a tracer that may be asked for: makes one, if it can be. */
void lz_ahead_make(void);
/* A writer of the recording PATH, which does not exist, with a store of copies. NULL: none was made. */
struct lz_writer *lz_ahead_take(const char *path, const struct lz_meta *meta);
/* It is not needed, if it has not been taken. */
void lz_ahead_drop(void);

#endif
