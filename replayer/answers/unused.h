/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that never ran, kept in the recording: a question about one of them is answered without
 * opening the recording. */
#ifndef LIZARD_REPLAYER_UNUSED_H
#define LIZARD_REPLAYER_UNUSED_H

#include "replayer/answers/asked.h"

/* Keeps them if all is known, and the recording is complete. It need not succeed. */
void lz_unused_keep(const struct lz_asked *a);
/* Is it known that no function of the recording DIR that has one of these names ever ran, and that
 * there is one for each name? NAMES end with NULL. */
bool lz_unused_are(const char *dir, char *const *names);

#endif
