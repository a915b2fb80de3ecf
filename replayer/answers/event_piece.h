/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of the piece of a run that is asked about. */
#ifndef LIZARD_REPLAYER_EVENT_PIECE_H
#define LIZARD_REPLAYER_EVENT_PIECE_H

#include "replayer/answers/asked.h"

struct lz_event_piece {
	uint64_t from, to; /* numbers of events, TO not among them */
};
/* FROM, TO: as lz_asked_offset() takes them, or NULL. A position that names an event is exact to
 * the event, others to the marker. */
int lz_event_piece(const struct lz_asked *a, const char *from, const char *to,
                   struct lz_event_piece *p);

/* The instant behind EV as `jump_forward` takes it: where its thread goes on. Behind an event that
 * ends the thread, hands over its turn, or begins another program: "THREAD:MARKER". */
enum { LZ_EVENT_INSTANT = LZ_POS_TEXT };
const char *lz_event_instant(const struct lz_event *ev, char buf[LZ_EVENT_INSTANT]);

#endif
