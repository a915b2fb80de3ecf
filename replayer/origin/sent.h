/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a call has written somewhere, and where in memory that was. */
#ifndef LIZARD_REPLAYER_SENT_H
#define LIZARD_REPLAYER_SENT_H

#include "replayer/origin/origin.h"

/* To right before event number INDEX. With LEN, *O is a copy of the bytes from number BYTE on that the call takes, as many
 * as lie together, LEN at most; else it is the event. LZ_ACCESS_INTERRUPTED; -1. */
int lz_origin_sent(struct lz_session *s, uint64_t index, uint64_t byte, uint64_t len,
                   struct lz_origin *o);

#endif
