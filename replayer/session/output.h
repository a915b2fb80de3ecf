/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program writes to its standard output and error; for the session's files. */
#ifndef LZ_REPLAYER_OUTPUT_H
#define LZ_REPLAYER_OUTPUT_H

#include "replayer/session/session.h"

/* Does session S look at EV when a run passes it by? */
bool lz_session_looks(void *s, const struct lz_event *ev);
/* A run or step passes EV by, which is about to be applied. */
void lz_session_passes(struct lz_session *s, const struct lz_event *ev);

#endif
