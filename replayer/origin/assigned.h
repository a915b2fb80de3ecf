/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last store to a variable, found in the markers: the blocks that may assign it are looked for there,
 * and what lies around the last one is run again. */
#ifndef LIZARD_REPLAYER_ORIGIN_ASSIGNED_H
#define LIZARD_REPLAYER_ORIGIN_ASSIGNED_H

#include "replayer/origin/access.h"

/* The session has one watchpoint, for Q, and stands at the start of a gap, behind which there is no
 * store. The user is at NOW, and sees the Q->len bytes, at most LZ_ASSIGNED_MAX, as VALUE. 0: the session is right
 * before the last store; LZ_ASSIGNED_UNKNOWN: it is at the start of a gap behind which there is none;
 * LZ_ACCESS_INTERRUPTED; -1. */
enum { LZ_ASSIGNED_UNKNOWN = 16, LZ_ASSIGNED_MAX = 4096 };
int lz_assigned_last(struct lz_session *s, const struct lz_access_query *q,
                     const struct lz_pos *now, const uint8_t *value);

#endif
